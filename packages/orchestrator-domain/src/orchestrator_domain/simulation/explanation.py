"""Why an event would be accepted or refused, and with supplied results what would decide and come of it.

The checks are those of acceptance, in its order (specification, section 8.1); nothing is called and nothing is stored.
"""

from collections.abc import Iterator, Mapping

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.compiled import compile_decision
from orchestrator_domain.decision.context import EvaluationContext, evaluation_context
from orchestrator_domain.decision.trace import (
    ConditionTrace,
    DecisionTrace,
    traced_condition,
    traced_decision,
)
from orchestrator_domain.exact_json.schema import SchemaViolation
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.completion import Completion, RunFault, finished_transition
from orchestrator_domain.flow.definition import ByDecision, FlowDefinition, Transition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import EventKey, StateKey


@frozen(kw_only=True)
class Situation:
    """A request as it stands and what is sent to it; without an `actor` roles aren't judged and nobody acts.

    `results` are by result key; None where no action is to be looked beyond.
    """

    state: StateKey
    data: JsonObject
    event: EventKey
    event_data: JsonObject
    actor: Actor | None = None
    results: Mapping[str, JsonValue] | None = None


@frozen(kw_only=True)
class Check:
    """One check of acceptance: `passed` None where it wasn't made; `code` is what a refusal would carry."""

    name: str
    passed: bool | None
    explanation: str
    code: str
    violations: tuple[SchemaViolation, ...] = ()
    guard: ConditionTrace | None = None


@frozen(kw_only=True)
class Explanation:
    """What would happen: the checks, and once results are known the decision and what the transition ends in.

    `missing_results` are those that the transition's actions would still have to give.
    """

    checks: tuple[Check, ...]
    transition: str | None = None
    missing_results: tuple[str, ...] = ()
    decision: DecisionTrace | None = None
    outcome: Completion | RunFault | None = None

    @property
    def refusal(self) -> Check | None:
        """Return the first check that failed."""
        return next((check for check in self.checks if check.passed is False), None)


def explained(flow: FlowDefinition, situation: Situation, *, limits: FlowLimits | None = None) -> Explanation:
    """Explain what the flow makes of an event in a situation."""
    transition = flow.transition_for(situation.state, situation.event)
    if transition is None:
        return Explanation(checks=(_no_transition(flow, situation),))
    ready = ReadyFlow(definition=flow)
    checks = tuple(_checks(ready, transition, situation))
    missing = tuple(_missing_results(transition, situation))
    if missing or any(check.passed is False for check in checks):
        return Explanation(checks=checks, transition=transition.id, missing_results=missing)
    context = _context(situation)
    return Explanation(
        checks=checks,
        transition=transition.id,
        decision=_decision(flow, transition, context),
        outcome=_outcome(ready, transition, context, limits or FlowLimits()),
    )


def _no_transition(flow: FlowDefinition, situation: Situation) -> Check:
    state = flow.state(situation.state)
    if state is None:
        explanation = f"There is no state '{situation.state}'."
    elif state.terminal:
        explanation = f"'{state.key}' is terminal: nothing leaves it."
    else:
        events = ", ".join(transition.event for transition in flow.transitions_from(state.key))
        explanation = f"From '{state.key}' lead only: {events}."
    return Check(name="transition", passed=False, explanation=explanation, code="INVALID_EVENT")


def _checks(ready: ReadyFlow, transition: Transition, situation: Situation) -> Iterator[Check]:
    yield Check(
        name="transition",
        passed=True,
        explanation=f"'{transition.id}' leaves '{transition.from_state}' with '{transition.event}'.",
        code="INVALID_EVENT",
    )
    yield _role(transition, situation)
    yield _data(ready, situation)
    if transition.guard is not None:
        yield _guard(traced_condition(transition.guard, _context(situation, with_results=False)))


def _role(transition: Transition, situation: Situation) -> Check:
    allowed = ", ".join(sorted(transition.allowed_roles))
    actor = situation.actor
    return Check(
        name="role",
        passed=None if actor is None else actor.holds_any(transition.allowed_roles),
        explanation=f"Allowed are: {allowed}." + (" No actor was given." if actor is None else ""),
        code="ACCESS_DENIED",
    )


def _data(ready: ReadyFlow, situation: Situation) -> Check:
    violations = ready.event_violations(situation.state, situation.event, situation.event_data)
    return Check(
        name="event data",
        passed=not violations,
        explanation="The event's data doesn't satisfy its schema."
        if violations
        else "The data satisfies its schema.",
        code="SCHEMA_VIOLATION",
        violations=violations,
    )


def _guard(traced: ConditionTrace) -> Check:
    can_be_answered = isinstance(traced.answer, bool)
    return Check(
        name="guard",
        passed=traced.answer is True,
        explanation=traced.text if can_be_answered else f"{traced.text} can't be answered.",
        code="GUARD_NOT_SATISFIED" if can_be_answered else "EVALUATION_ERROR",
        guard=traced,
    )


def _missing_results(transition: Transition, situation: Situation) -> Iterator[str]:
    given = situation.results or {}
    for action in transition.actions:
        if action.result_key is not None and action.result_key not in given:
            yield action.result_key


def _context(situation: Situation, *, with_results: bool = True) -> EvaluationContext:
    context = {
        "request": {"data": situation.data},
        "event": {"data": situation.event_data},
        "results": dict(situation.results or {}) if with_results else {},
    }
    if situation.actor is None:
        return context  # type: ignore[return-value]  # nested objects of JSON
    return evaluation_context(
        request_data=situation.data,
        event_data=situation.event_data,
        actor=situation.actor,
        results=(situation.results or {}) if with_results else {},
    )


def _decision(
    flow: FlowDefinition, transition: Transition, context: EvaluationContext
) -> DecisionTrace | None:
    route = transition.route
    decision = flow.decision(route.decision) if isinstance(route, ByDecision) else None
    return None if decision is None else traced_decision(decision, context)


def _outcome(
    ready: ReadyFlow, transition: Transition, context: EvaluationContext, limits: FlowLimits
) -> Completion | RunFault:
    finished = finished_transition(
        flow=ready,
        transition=transition,
        context=context,
        results={},
        contracts={},
        evaluate=lambda definition, where: compile_decision(definition)(where),
        limits=limits,
    )
    return finished if isinstance(finished, RunFault) else finished.completion
