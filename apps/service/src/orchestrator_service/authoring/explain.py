"""`flow explain`: what a flow would make of an event, told from files."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.case_document import expected_document
from orchestrator_domain.decision.trace import ConditionTrace, DecisionTrace
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.execution.completion import Completion, RunFault
from orchestrator_domain.identifiers import BusinessScope, EventKey, Role, StateKey, Subject
from orchestrator_domain.simulation.explanation import Check, Explanation, Situation, explained
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.authoring.sources import UnusableFile, read_definition, read_object

_SIGNS: Final = {True: ("✓ ", "green"), False: ("✗ ", "bold red"), None: ("? ", "dim")}


def explain(chosen: argparse.Namespace) -> int:
    """Tell what would happen; return 1 if the event would be refused or the transition would fail."""
    explanation = explained(read_definition(chosen.file), _situation(chosen))
    if chosen.format == "json":
        write_json(_as_json(explanation))
    else:
        _to_people(explanation)
    return int(explanation.refusal is not None or isinstance(explanation.outcome, RunFault))


def _situation(chosen: argparse.Namespace) -> Situation:
    request, event = read_object(chosen.request), read_object(chosen.event)
    return Situation(
        state=StateKey(_text(request, "state", chosen.request)),
        data=_object(request, "data", chosen.request),
        event=EventKey(_text(event, "event", chosen.event)),
        event_data=_object(event, "data", chosen.event),
        actor=_actor(event, chosen.event) if "actor" in event else None,
        results=None if chosen.results is None else read_object(chosen.results),
    )


def _actor(event: JsonObject, path: Path) -> Actor:
    actor = _object(event, "actor", path)
    return Actor(
        subject=Subject(_text(actor, "subject", path) if "subject" in actor else "somebody"),
        roles=frozenset(map(Role, _texts(actor, "roles", path))),
        scopes=frozenset(map(BusinessScope, _texts(actor, "scopes", path))),
        attributes=_object(actor, "attributes", path),
    )


def _text(holder: JsonObject, name: str, path: Path) -> str:
    value = holder.get(name)
    if not isinstance(value, str):
        raise UnusableFile(path, f"The member '{name}' is missing or no string.")
    return value


def _object(holder: JsonObject, name: str, path: Path) -> JsonObject:
    value = holder.get(name, {})
    if not isinstance(value, dict):
        raise UnusableFile(path, f"The member '{name}' is no object.")
    return value


def _texts(holder: JsonObject, name: str, path: Path) -> Iterable[str]:
    value = holder.get(name, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UnusableFile(path, f"The member '{name}' is no list of strings.")
    return [str(each) for each in value]


def _to_people(explanation: Explanation) -> None:
    for check in explanation.checks:
        show(_SIGNS[check.passed], f"{check.name}: {check.explanation}")
        for violation in check.violations:
            show(f"    {violation.pointer or 'the data'}: {violation.message}")
        if check.guard is not None:
            _condition_to_people(check.guard, 1)
    refusal = explanation.refusal
    if refusal is not None:
        show(("The event would be refused: ", "bold"), refusal.code)
        return
    show(("The event would be accepted.", "bold"))
    if explanation.missing_results:
        show(f"To see what decides, give the results: {', '.join(explanation.missing_results)}.")
    if explanation.decision is not None:
        _decision_to_people(explanation.decision)
    if explanation.outcome is not None:
        _outcome_to_people(explanation.outcome)


def _decision_to_people(decision: DecisionTrace) -> None:
    show(("The decision answers ", "bold"), dump_json(expected_document(decision.answer)))
    for rule in decision.rules:
        show(f"  rule {rule.rule} → {rule.output}")
        _condition_to_people(rule.condition, 2)
    for alternative in decision.alternatives:
        output = dump_json(expected_document(alternative.answer))
        show(("  otherwise: ", "cyan"), f"{output} if {alternative.change}")


def _condition_to_people(traced: ConditionTrace, level: int) -> None:
    sign = _SIGNS[traced.answer if isinstance(traced.answer, bool) else None]
    read = [f"{path} is {_shown(value)}" for path, value in traced.values.items()]
    note = f" ({', '.join(read)})" if read else ""
    show("    " * level, sign, f"{traced.text}: {_answered(traced)}{note}")
    for part in traced.parts:
        _condition_to_people(part, level + 1)


def _answered(traced: ConditionTrace) -> str:
    match traced.answer:
        case None:
            return "not reached"
        case bool():
            return str(traced.answer).lower()
        case fault:
            return f"an error ({fault.fault})"


def _shown(value: JsonValue | Absent) -> str:
    return "absent" if isinstance(value, Absent) else dump_json(value)


def _outcome_to_people(outcome: Completion | RunFault) -> None:
    if isinstance(outcome, RunFault):
        show(("The transition would fail: ", "bold red"), f"{outcome.code} {dump_json(outcome.detail)}")
        return
    show(("It would end in ", "bold"), f"{outcome.state} with the outcome {outcome.result['outcome']}")
    show(("and with the data ", "bold"), dump_json(outcome.data))


def _as_json(explanation: Explanation) -> JsonObject:
    refusal = explanation.refusal
    return {
        "accepted": refusal is None,
        "refusal": None if refusal is None else refusal.code,
        "transition": explanation.transition,
        "checks": [_check_as_json(check) for check in explanation.checks],
        "missingResults": [*explanation.missing_results],
        "decision": None if explanation.decision is None else _decision_as_json(explanation.decision),
        "outcome": None if explanation.outcome is None else _outcome_as_json(explanation.outcome),
    }


def _check_as_json(check: Check) -> JsonObject:
    return {
        "name": check.name,
        "passed": check.passed,
        "explanation": check.explanation,
        "violations": [{"pointer": each.pointer, "message": each.message} for each in check.violations],
        "guard": None if check.guard is None else _condition_as_json(check.guard),
    }


def _condition_as_json(traced: ConditionTrace) -> JsonObject:
    return {
        "condition": traced.text,
        "answer": _answered(traced),
        "values": {path: value for path, value in traced.values.items() if not isinstance(value, Absent)},
        "parts": [_condition_as_json(part) for part in traced.parts],
    }


def _decision_as_json(decision: DecisionTrace) -> JsonObject:
    return {
        "answer": expected_document(decision.answer),
        "rules": [
            {"id": rule.rule, "output": rule.output, "condition": _condition_as_json(rule.condition)}
            for rule in decision.rules
        ],
        "alternatives": [
            {"answer": expected_document(each.answer), "change": each.change, "witness": each.witness}
            for each in decision.alternatives
        ],
    }


def _outcome_as_json(outcome: Completion | RunFault) -> JsonObject:
    if isinstance(outcome, RunFault):
        return {"error": outcome.code, "detail": outcome.detail}
    return {"state": outcome.state, "result": outcome.result, "data": outcome.data}
