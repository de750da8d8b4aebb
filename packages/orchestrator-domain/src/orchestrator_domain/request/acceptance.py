"""Deciding whether an event is accepted: pure, in the order of the specification (section 8.1)."""

from typing import assert_never

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.compiled import evaluate_condition
from orchestrator_domain.decision.context import evaluation_context
from orchestrator_domain.decision.outcome import EvaluationFault
from orchestrator_domain.errors import (
    AccessDenied,
    EvaluationError,
    GuardNotSatisfied,
    IdempotencyConflict,
    InvalidEvent,
    InvalidInput,
    RequestBusy,
    RequestErased,
    RevisionMismatch,
)
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.definition import Transition
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import (
    CorrelationId,
    EventKey,
    ExecutionId,
    IdempotencyKey,
    RequestId,
    Revision,
    Sha256Hex,
    TraceParent,
)
from orchestrator_domain.request.request import Request


@frozen
class AnyRevision:
    """`If-Match: *`: whatever the revision is."""


@frozen(kw_only=True)
class RevisionIn:
    """The tags of If-Match, without quotes; a revision's tag is its decimal digits."""

    tags: tuple[str, ...]


type Precondition = AnyRevision | RevisionIn


@frozen(kw_only=True)
class AcceptEventCommand:
    """Send one event to one request."""

    request_id: RequestId
    event: EventKey
    data: JsonObject
    key: IdempotencyKey
    precondition: Precondition
    correlation_id: CorrelationId | None = None
    trace_parent: TraceParent | None = None


@frozen(kw_only=True)
class Accepted:
    """The event is taken: the request with its next revision, and the execution to store with it."""

    request: Request
    execution: Execution


@frozen(kw_only=True)
class Repeated:
    """The same command was accepted before; this is its execution, whatever became of it."""

    execution: Execution


type AcceptanceDecision = Accepted | Repeated


def command_hash(command: AcceptEventCommand) -> Sha256Hex:
    """Return the hash of event, data and the normalised precondition."""
    return Sha256Hex(
        sha256_hex(
            {"event": command.event, "data": command.data, "ifMatch": _normalised(command.precondition)}
        )
    )


def revision_matches(precondition: Precondition, revision: Revision) -> bool:
    """Compare strongly (RFC 9110, section 13.1.1)."""
    match precondition:
        case AnyRevision():
            return True
        case RevisionIn(tags=tags):
            return str(revision) in tags
    assert_never(precondition)


def decide_acceptance(
    command: AcceptEventCommand,
    actor: Actor,
    *,
    request: Request,
    flow: ReadyFlow,
    earlier: Execution | None,
    active: ExecutionId | None,
    execution_id: ExecutionId,
) -> AcceptanceDecision:
    """Decide over what the locked rows say; `earlier` is the execution of this key, `active` the one that blocks.

    Raises the refusal that comes first in the specification's order; nothing has been stored then.
    """
    if earlier is not None:
        return _repeated(command, actor, earlier, flow)
    if not revision_matches(command.precondition, request.revision):
        raise RevisionMismatch(
            "The request has changed since you read it; read it again and decide anew.",
            current=request.revision,
        )
    if active is not None:
        raise RequestBusy(
            "An earlier event of this request hasn't ended yet: it is being processed, or waits for an operator.",
            active_execution=active,
        )
    if request.data_erased_at is not None:
        raise RequestErased("The request's data has been erased, so it takes no more events.")
    transition = _transition(command, request, flow)
    _require_role(actor, transition)
    _require_valid_data(command, request, flow)
    _require_guard(command, actor, request, flow, transition)
    accepted = request.accepted()
    return Accepted(
        request=accepted, execution=_execution(command, actor, accepted, transition, execution_id)
    )


def _repeated(command: AcceptEventCommand, actor: Actor, earlier: Execution, flow: ReadyFlow) -> Repeated:
    transition = flow.definition.transition(earlier.transition)
    assert transition is not None, "acceptance took the transition from this very version"
    _require_role(actor, transition)
    if earlier.payload_hash != command_hash(command):
        raise IdempotencyConflict("This Idempotency-Key was used for another command; use a new key.")
    return Repeated(execution=earlier)


def _transition(command: AcceptEventCommand, request: Request, flow: ReadyFlow) -> Transition:
    transition = flow.definition.transition_for(request.state, command.event)
    if transition is None:
        raise InvalidEvent("The request's current state has no transition for this event.", pointer="/event")
    return transition


def _require_role(actor: Actor, transition: Transition) -> None:
    if not actor.holds_any(transition.allowed_roles):
        raise AccessDenied("None of your roles may send this event.")


def _require_valid_data(command: AcceptEventCommand, request: Request, flow: ReadyFlow) -> None:
    violations = flow.event_violations(request.state, command.event, command.data)
    if violations:
        raise InvalidInput(
            "The event's data doesn't satisfy its schema; see the violations.",
            pointer="/data" + violations[0].pointer,
            violations=[("/data" + violation.pointer, violation.message) for violation in violations],
        )


def _require_guard(
    command: AcceptEventCommand, actor: Actor, request: Request, flow: ReadyFlow, transition: Transition
) -> None:
    guard = flow.guard(transition)
    if guard is None:
        return
    context = evaluation_context(request_data=request.data, event_data=command.data, actor=actor, results={})
    answer = evaluate_condition(guard, context)
    if isinstance(answer, EvaluationFault):
        raise EvaluationError(
            "The transition's guard can't be evaluated on this data.", pointer=answer.pointer
        )
    if not answer:
        raise GuardNotSatisfied("The transition's guard isn't satisfied by the current data.")


def _execution(
    command: AcceptEventCommand,
    actor: Actor,
    accepted: Request,
    transition: Transition,
    execution_id: ExecutionId,
) -> Execution:
    return Execution(
        id=execution_id,
        request_id=accepted.id,
        idempotency_key=command.key,
        payload_hash=command_hash(command),
        actor=actor,
        event=command.event,
        event_data=command.data,
        transition=transition.id,
        from_state=transition.from_state,
        accepted_revision=accepted.revision,
        correlation_id=command.correlation_id,
        trace_parent=command.trace_parent,
    )


def _normalised(precondition: Precondition) -> JsonValue:
    match precondition:
        case AnyRevision():
            return "*"
        case RevisionIn(tags=tags):
            return [*sorted(set(tags))]
    assert_never(precondition)
