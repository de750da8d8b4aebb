"""Tell what an actor may do with a request now."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import NotFound
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.available_events import EventsNow, available_events
from orchestrator_domain.request.request import Request
from orchestrator_domain.usecases.flow_library import FlowLibrary


@frozen(kw_only=True)
class RequestEvents:
    """A request with what the actor may send to it."""

    request: Request
    events: EventsNow


@frozen(kw_only=True)
class ListAvailableEvents:
    """Answer reads; a request that isn't visible doesn't exist (NotFound)."""

    unit_of_work: UnitOfWork
    flows: FlowLibrary

    async def __call__(self, request_id: RequestId, actor: Actor) -> RequestEvents:
        async def story(work: Transaction) -> RequestEvents:
            visible = await work.requests.find_visible(request_id, actor)
            if visible is None:
                raise NotFound("There is no such request.")
            flow = await self.flows.ready(visible.request.flow, work.flows)
            events = available_events(visible.request, flow, actor, active=visible.active_execution)
            return RequestEvents(request=visible.request, events=events)

        return await self.unit_of_work.run(story)
