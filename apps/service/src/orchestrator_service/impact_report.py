"""What is told of a replay: counts and changes, examples with their traces, requests that couldn't be carried."""

from collections.abc import Iterator

from orchestrator_domain.decision.context import EvaluationContext, evaluation_context
from orchestrator_domain.decision.trace import ConditionTrace, traced_decision
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.execution.completion import results_by_key
from orchestrator_domain.flow.definition import ByDecision, FlowDefinition
from orchestrator_domain.simulation.impact import Compared, Ending
from orchestrator_domain.simulation.scenario import NotAccepted
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.impact_chart import ShareCurve
from orchestrator_service.impact_tally import ImpactTally


def tell_impact(
    tally: ImpactTally, flow: FlowDefinition, curve: ShareCurve | None, *, with_values: bool
) -> None:
    """Print the report for people; values of requests are shown only when they are asked for."""
    show(
        f"{tally.compared} events of {tally.requests} requests compared; {tally.different} would come out otherwise."
    )
    if tally.untold:
        show(f"{tally.untold} can't be told, for the version asks for results that nobody recorded.")
    if tally.unreplayable:
        show(
            f"{tally.unreplayable} requests can't be replayed as recorded; 'orchestrator audit verify' tells why."
        )
    for (transition, before, after), count in sorted(tally.transitions.items()):
        show((f"  {transition}", "bold"), f": {before} → {after}, {count} times")
    for (decision, before, after), count in sorted(tally.rules.items()):
        show(f"  rules of {decision}: {before} → {after}, {count} times")
    for event in tally.examples:
        _tell_example(event, flow, with_values=with_values)
    for reason, count in sorted(tally.burdens.items()):
        show((f"{count} requests under way couldn't be carried: {reason}", "bold red"))
    for request_id, reason in tally.burdened:
        show(f"  request {request_id}: {reason}")
    for value, counts in () if curve is None else curve.points:
        shares = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        show(f"  threshold {value}: {shares or 'no events'}")


def tell_impact_as_json(
    tally: ImpactTally, flow: FlowDefinition, curve: ShareCurve | None, *, with_values: bool
) -> None:
    """Print the report as one line of JSON."""
    told: JsonObject = {
        **tally.as_json(),
        "examples": [_example(event, flow, with_values=with_values) for event in tally.examples],
    }
    if curve is not None:
        told["threshold"] = [{"value": value, "outcomes": dict(counts)} for value, counts in curve.points]
    write_json(told)


def decision_context(event: Compared, flow: FlowDefinition) -> EvaluationContext | None:
    """Return what the candidate's decision read; None where the event didn't come so far."""
    done = event.simulated
    if done is None or isinstance(done, NotAccepted):
        return None
    transition = flow.transition(done.transition)
    assert transition is not None, "the scenario ran in this very flow"
    if len(done.actions) < len(transition.actions):
        return None
    return evaluation_context(
        request_data=event.scenario.data,
        event_data=event.scenario.event_data,
        actor=event.scenario.actor,
        results=results_by_key(transition.actions, {each.action: each.result for each in done.actions}),
    )


def _tell_example(event: Compared, flow: FlowDefinition, *, with_values: bool) -> None:
    show(
        ("example ", "cyan"),
        f"execution {event.execution_id} of request {event.request_id}: "
        f"{_ending(event.before)} → {_ending(event.after)}" + (", other data" if event.data_differs else ""),
    )
    for line in _trace(event, flow, with_values=with_values):
        show(f"    {line}")


def _example(event: Compared, flow: FlowDefinition, *, with_values: bool) -> JsonObject:
    return {
        "requestId": str(event.request_id),
        "executionId": str(event.execution_id),
        "transitionId": event.transition,
        "before": _ending_as_json(event.before),
        "after": _ending_as_json(event.after),
        "dataDiffers": event.data_differs,
        "trace": [*_trace(event, flow, with_values=with_values)],
    }


def _ending(ending: Ending) -> str:
    return ending.name if ending.state is None else f"{ending.name} in {ending.state}"


def _ending_as_json(ending: Ending) -> JsonObject:
    rules: list[JsonValue] = [*ending.rules]
    return {"outcome": ending.outcome, "error": ending.error, "state": ending.state, "rules": rules}


def _trace(event: Compared, flow: FlowDefinition, *, with_values: bool) -> Iterator[str]:
    """Tell each rule of the candidate's decision with its answer; nothing where no decision was reached."""
    context = decision_context(event, flow)
    transition = flow.transition_for(event.scenario.state, event.scenario.event)
    if context is None or transition is None or not isinstance(transition.route, ByDecision):
        return
    decision = flow.decision(transition.route.decision)
    assert decision is not None, "reading the flow has checked that its decisions exist"
    for rule in traced_decision(decision, context).rules:
        answer = rule.condition.answer
        told = str(answer).lower() if isinstance(answer, bool) else "not answered"
        read = ", ".join(dict.fromkeys(_values(rule.condition))) if with_values else ""
        yield f"{rule.rule} → {rule.output}: {rule.condition.text}: {told}" + (f" ({read})" if read else "")


def _values(traced: ConditionTrace) -> Iterator[str]:
    for path, value in traced.values.items():
        yield f"{path} is {'absent' if isinstance(value, Absent) else dump_json(value)}"
    for part in traced.parts:
        yield from _values(part)
