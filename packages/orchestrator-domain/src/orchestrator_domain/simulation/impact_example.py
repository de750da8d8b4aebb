"""One event that would come out otherwise, as an example: how it ended, and how each rule of the candidate answers it."""

from collections.abc import Iterator
from enum import IntEnum

from orchestrator_domain.decision.context import EvaluationContext, evaluation_context
from orchestrator_domain.decision.trace import ConditionTrace, traced_condition
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.execution.completion import results_by_key
from orchestrator_domain.flow.definition import ByDecision, FlowDefinition
from orchestrator_domain.simulation.impact import Compared, Ending
from orchestrator_domain.simulation.scenario import NotAccepted


class Disclosure(IntEnum):
    """How much an example tells; each tells what those before it tell."""

    OUTCOMES = 0
    """Which event of which request, and what it came to and would come to."""
    RULES = 1
    """Which rules decided, and how each rule of the candidate answers."""
    VALUES = 2
    """What the rules read."""


def example_document(event: Compared, flow: FlowDefinition, *, disclosure: Disclosure) -> JsonObject:
    """Return the example as JSON; `rules` and `trace` are null where they aren't to be told."""
    tells_rules = disclosure >= Disclosure.RULES
    return {
        "requestId": str(event.request_id),
        "executionId": str(event.execution_id),
        "transitionId": event.transition,
        "before": _ending(event.before, tells_rules=tells_rules),
        "after": _ending(event.after, tells_rules=tells_rules),
        "dataDiffers": event.data_differs,
        "trace": [*trace_lines(event, flow, disclosure=disclosure)] if tells_rules else None,
    }


def trace_lines(event: Compared, flow: FlowDefinition, *, disclosure: Disclosure) -> Iterator[str]:
    """Tell each rule of the candidate's decision with its answer; nothing where no decision was reached."""
    context = decision_context(event, flow)
    transition = flow.transition_for(event.scenario.state, event.scenario.event)
    if context is None or transition is None or not isinstance(transition.route, ByDecision):
        return
    decision = flow.decision(transition.route.decision)
    assert decision is not None, "reading the flow has checked that its decisions exist"
    for rule in decision.rules:
        traced = traced_condition(rule.when, context)
        told = str(traced.answer).lower() if isinstance(traced.answer, bool) else "not answered"
        read = _values(traced) if disclosure >= Disclosure.VALUES else ()
        in_brackets = ", ".join(dict.fromkeys(read))
        yield f"{rule.id} → {rule.output}: {traced.text}: {told}" + (
            f" ({in_brackets})" if in_brackets else ""
        )


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


def _ending(ending: Ending, *, tells_rules: bool) -> JsonObject:
    rules: list[JsonValue] = [*ending.rules]
    return {
        "outcome": ending.outcome,
        "error": ending.error,
        "state": ending.state,
        "rules": rules if tells_rules else None,
    }


def _values(traced: ConditionTrace) -> Iterator[str]:
    for path, value in traced.values.items():
        yield f"{path} is {'absent' if isinstance(value, Absent) else dump_json(value)}"
    for part in traced.parts:
        yield from _values(part)
