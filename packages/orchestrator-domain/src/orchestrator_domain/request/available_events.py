"""What an actor may do with a request now: guidance for a front end, which acceptance judges anew.

Purely computed from the snapshot, so an answer may be out of date when it arrives (specification, section 10).
"""

from enum import StrEnum

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.compiled import evaluate_condition
from orchestrator_domain.decision.context import evaluation_context
from orchestrator_domain.exact_json.schema_bundle import bundled_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.definition import Task, Transition
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import EventKey, ExecutionId
from orchestrator_domain.request.guard_reads import sources_read
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class EventTask:
    """How a front end may ask for the event's data; `input_schema` is enforced beside the event's own."""

    ui: JsonObject
    input_schema: JsonValue | None


@frozen(kw_only=True)
class AvailableEvent:
    """An event that the actor may send. Its schemas hold whatever they refer to."""

    event: EventKey
    title: str | None
    input_schema: JsonValue
    tasks: tuple[EventTask, ...]


class BlockingCause(StrEnum):
    """Why an event that the actor may send isn't available now, in words that tell nothing of the data."""

    CONDITIONS_NOT_MET = "CONDITIONS_NOT_MET"


@frozen(kw_only=True)
class BlockedEvent:
    event: EventKey
    cause: BlockingCause


@frozen(kw_only=True)
class EventsNow:
    """What can be sent. While an execution blocks the request nothing else is said than which one."""

    blocked_by: ExecutionId | None
    available: tuple[AvailableEvent, ...] = ()
    blocked: tuple[BlockedEvent, ...] = ()


def available_events(
    request: Request, flow: ReadyFlow, actor: Actor, *, active: ExecutionId | None
) -> EventsNow:
    """Return the events of the current state for which the actor holds a role.

    A guard is judged here only if it reads nothing of the event, which hasn't been sent; otherwise the event counts as
    available. A guard that is false and one that can't be evaluated are not told apart. A request whose data has been
    erased takes no events.
    """
    if active is not None:
        return EventsNow(blocked_by=active)
    if request.data_erased_at is not None:
        return EventsNow(blocked_by=None)
    permitted = [
        transition
        for transition in flow.definition.transitions_from(request.state)
        if actor.holds_any(transition.allowed_roles)
    ]
    open_now = {transition.id: _may_be_met(transition, request, flow, actor) for transition in permitted}
    return EventsNow(
        blocked_by=None,
        available=tuple(_available(each, request, flow) for each in permitted if open_now[each.id]),
        blocked=tuple(
            BlockedEvent(event=each.event, cause=BlockingCause.CONDITIONS_NOT_MET)
            for each in permitted
            if not open_now[each.id]
        ),
    )


def _may_be_met(transition: Transition, request: Request, flow: ReadyFlow, actor: Actor) -> bool:
    guard = flow.guard(transition)
    if guard is None or transition.guard is None or "event" in sources_read(transition.guard):
        return True
    context = evaluation_context(request_data=request.data, event_data={}, actor=actor, results={})
    return evaluate_condition(guard, context) is True


def _available(transition: Transition, request: Request, flow: ReadyFlow) -> AvailableEvent:
    definition = flow.definition
    event = definition.event(transition.event)
    assert event is not None, "a transition's event is declared, which reading the flow has checked"
    return AvailableEvent(
        event=event.key,
        title=event.title,
        input_schema=bundled_schema(event.input_schema, definition.schemas),
        tasks=tuple(_task(task, flow) for task in definition.tasks_for(request.state, event.key)),
    )


def _task(task: Task, flow: ReadyFlow) -> EventTask:
    schema = task.input_schema
    return EventTask(
        ui=task.ui,
        input_schema=None if schema is None else bundled_schema(schema, flow.definition.schemas),
    )
