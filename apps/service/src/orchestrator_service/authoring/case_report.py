"""What is told of cases: each case for machines, mismatches with their trace and a summary for people."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from orchestrator_domain.decision.case_document import expected_document
from orchestrator_domain.decision.context import evaluation_context
from orchestrator_domain.decision.trace import ConditionTrace, DecisionTrace, traced_decision
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.execution.completion import results_by_key
from orchestrator_domain.flow.definition import ByDecision, FlowDefinition
from orchestrator_domain.simulation.case import Answered, Case
from orchestrator_domain.simulation.fault_place import fault_place
from orchestrator_domain.simulation.scenario import NotAccepted, Stopped, Transitioned
from orchestrator_service.authoring.case_files import CaseRow
from orchestrator_service.authoring.case_tally import CaseTally
from orchestrator_service.authoring.screen import show

_SIGNS: Final = {True: ("✓ ", "green"), False: ("✗ ", "red")}


def answers_as_json(
    row: CaseRow, case: Case, answers: Sequence[Answered], flow: FlowDefinition
) -> JsonObject:
    """Return one case for machines; `asExpected` is null where nothing was expected."""
    expecting = any(each.sent.expected is not None for each in answers)
    told: JsonObject = {
        "place": row.place,
        "asExpected": not any(each.differences for each in answers) if expecting else None,
        "events": [_event_as_json(each, flow) for each in answers],
    }
    return told if case.id is None else {"id": case.id, **told}


def _event_as_json(answered: Answered, flow: FlowDefinition) -> JsonObject:
    return {
        "event": answered.sent.event,
        "outcome": answered.outcome,
        "error": answered.error,
        "place": _place(answered, flow),
        "state": answered.state,
        "data": answered.data,
        "decision": _decision(answered),
        "differences": [*answered.differences],
    }


def _place(answered: Answered, flow: FlowDefinition) -> str | None:
    match answered.simulated:
        case NotAccepted(refusal=refusal):
            return refusal.pointer
        case Stopped(transition=transition, fault=fault):
            return fault_place(flow, transition, fault)
        case Transitioned():
            return None


def _decision(answered: Answered) -> JsonValue:
    done = answered.simulated
    return done.trace["decision"] if isinstance(done, Transitioned) else None


def tell_mismatch(row: CaseRow, case: Case, answers: Sequence[Answered], flow: FlowDefinition) -> None:
    """Print what isn't as expected, if anything, and why it came so."""
    name = row.place if case.id is None else f"{row.place} ({case.id})"
    for number, answered in enumerate(answers, start=1):
        if not answered.differences:
            continue
        show(("mismatch ", "bold red"), f"{name}, event {number} {answered.sent.event}")
        for difference in answered.differences:
            show(f"    {difference}")
        _tell_why(answered, flow)


def _tell_why(answered: Answered, flow: FlowDefinition) -> None:
    done = answered.simulated
    if isinstance(done, NotAccepted):
        show(f"    {done.refusal.code}: {done.refusal.message}")
    if isinstance(done, Stopped):
        show(f"    {done.fault.code} at {_place(answered, flow)} {dump_json(done.fault.detail)}")
    trace = traced_answer(answered, flow)
    if trace is None:
        return
    show(f"    the decision answers {dump_json(expected_document(trace.answer))}")
    for rule in trace.rules:
        sign = _SIGNS.get(rule.condition.answer is True, ("? ", "dim"))
        read = ", ".join(dict.fromkeys(_values(rule.condition)))
        show("    ", sign, f"{rule.rule} → {rule.output}: {rule.condition.text} ({read})")


def traced_answer(answered: Answered, flow: FlowDefinition) -> DecisionTrace | None:
    """Trace the decision anew over what it read; None where it wasn't reached."""
    done = answered.simulated
    if isinstance(done, NotAccepted):
        return None
    transition = flow.transition(done.transition)
    assert transition is not None, "the scenario ran in this very flow"
    if not isinstance(transition.route, ByDecision) or len(done.actions) < len(transition.actions):
        return None
    decision = flow.decision(transition.route.decision)
    assert decision is not None, "reading the flow has checked that its decisions exist"
    results = results_by_key(transition.actions, {each.action: each.result for each in done.actions})
    context = evaluation_context(
        request_data=answered.scenario.data,
        event_data=answered.scenario.event_data,
        actor=answered.scenario.actor,
        results=results,
    )
    return traced_decision(decision, context)


def _values(traced: ConditionTrace) -> Iterator[str]:
    for path, value in traced.values.items():
        yield f"{path} is {'absent' if isinstance(value, Absent) else dump_json(value)}"
    for part in traced.parts:
        yield from _values(part)


def tell_summary(tally: CaseTally) -> None:
    """Print the tables of outcomes, rules and errors, and how many cases are as expected."""
    console = Console(highlight=False, emoji=False, markup=False)
    outcomes = _table("transition", "outcome")
    for (transition, outcome), count in sorted(tally.outcomes.items()):
        outcomes.add_row(transition, outcome, str(count))
    rules = _table("decision", "rule")
    for (decision, rule), count in sorted(tally.rules.items()):
        rules.add_row(decision, rule, str(count))
    for decision, rule in tally.never_hit:
        rules.add_row(decision, rule, "never")
    errors = _table("error")
    for code, count in sorted(tally.errors.items()):
        errors.add_row(code, str(count))
    for table in (outcomes, rules, errors):
        if table.row_count:
            console.print(table)
    as_expected = tally.expecting - tally.mismatches
    show(f"{tally.cases} cases; {as_expected} of {tally.expecting} with an expectation are as expected.")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(column, no_wrap=True)
    table.add_column("count", justify="right", no_wrap=True)
    return table
