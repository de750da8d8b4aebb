"""Why each event of a flow would be taken or refused now, whoever sends it: for operators, without a value."""

from collections.abc import Iterator, Sequence
from enum import StrEnum

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.compiled import evaluate_condition
from orchestrator_domain.decision.context import evaluation_context
from orchestrator_domain.decision.outcome import EvaluationFault
from orchestrator_domain.flow.definition import Transition
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import EventKey, ExecutionId, Role, StateKey, Subject
from orchestrator_domain.request.guard_reads import sources_read
from orchestrator_domain.request.request import Request


class Obstacle(StrEnum):
    """What an event would be answered; GUARD_DEPENDS is none for certain, it rests on the event or on its sender."""

    REQUEST_BUSY = "REQUEST_BUSY"
    REQUEST_ERASED = "REQUEST_ERASED"
    INVALID_EVENT = "INVALID_EVENT"
    ACCESS_DENIED = "ACCESS_DENIED"
    EVALUATION_ERROR = "EVALUATION_ERROR"
    GUARD_NOT_SATISFIED = "GUARD_NOT_SATISFIED"
    GUARD_DEPENDS = "GUARD_DEPENDS"


@frozen(kw_only=True)
class EventStanding:
    """An event, who may send it in the current state, in which states it can be sent, and what stands in its way."""

    event: EventKey
    allowed_roles: tuple[Role, ...]
    states: tuple[StateKey, ...]
    obstacles: tuple[Obstacle, ...]

    @property
    def is_taken(self) -> bool:
        return not set(self.obstacles) - {Obstacle.GUARD_DEPENDS}


def event_standings(
    request: Request, flow: ReadyFlow, *, active: ExecutionId | None, roles: frozenset[Role] | None = None
) -> Sequence[EventStanding]:
    """Judge every event of the flow, in its order, as acceptance would; `roles` are those of a sender, if one is meant."""
    return [_standing(event.key, request, flow, active, roles) for event in flow.definition.events]


def _standing(
    event: EventKey,
    request: Request,
    flow: ReadyFlow,
    active: ExecutionId | None,
    roles: frozenset[Role] | None,
) -> EventStanding:
    transition = flow.definition.transition_for(request.state, event)
    states = [each.from_state for each in flow.definition.transitions if each.event == event]
    return EventStanding(
        event=event,
        allowed_roles=() if transition is None else tuple(sorted(transition.allowed_roles)),
        states=tuple(states),
        obstacles=tuple(_obstacles(transition, request, flow, active, roles)),
    )


def _obstacles(
    transition: Transition | None,
    request: Request,
    flow: ReadyFlow,
    active: ExecutionId | None,
    roles: frozenset[Role] | None,
) -> Iterator[Obstacle]:
    if active is not None:
        yield Obstacle.REQUEST_BUSY
    if request.data_erased_at is not None:
        yield Obstacle.REQUEST_ERASED
    if transition is None:
        yield Obstacle.INVALID_EVENT
        return
    if roles is not None and not roles & set(transition.allowed_roles):
        yield Obstacle.ACCESS_DENIED
    guarded = _guard_obstacle(transition, request, flow)
    if guarded is not None:
        yield guarded


def _guard_obstacle(transition: Transition, request: Request, flow: ReadyFlow) -> Obstacle | None:
    guard = flow.guard(transition)
    if guard is None or transition.guard is None:
        return None
    if sources_read(transition.guard) & {"event", "actor"}:
        return Obstacle.GUARD_DEPENDS
    nobody = Actor(subject=Subject("nobody"), roles=frozenset(), scopes=frozenset())
    context = evaluation_context(request_data=request.data, event_data={}, actor=nobody, results={})
    answer = evaluate_condition(guard, context)
    if isinstance(answer, EvaluationFault):
        return Obstacle.EVALUATION_ERROR
    return None if answer else Obstacle.GUARD_NOT_SATISFIED
