"""GET /requests/{id}/available-events."""

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.request.available_events import AvailableEvent
from orchestrator_domain.usecases.list_available_events import ListAvailableEvents, RequestEvents
from orchestrator_http.call import Call
from orchestrator_http.payloads import PRIVATE, json_response


@frozen(kw_only=True)
class AvailableEventHandlers:
    """Show what may be sent to a request."""

    list_available_events: ListAvailableEvents

    async def show(self, call: Call) -> Response:
        """Show the events that the reader may send now, or which execution has to end first."""
        found = await self.list_available_events(RequestId(call.path_uuid("requestId")), call.actor)
        return json_response(_view(found), headers=PRIVATE)


def _view(found: RequestEvents) -> JsonObject:
    events = found.events
    return {
        "requestId": str(found.request.id),
        "state": found.request.state,
        "revision": found.request.revision,
        "blockedByExecutionId": None if events.blocked_by is None else str(events.blocked_by),
        "events": [_event(event) for event in events.available],
        "blocked": [{"event": event.event, "cause": event.cause.value} for event in events.blocked],
    }


def _event(event: AvailableEvent) -> JsonObject:
    return {
        "event": event.event,
        "title": event.title,
        "inputSchema": event.input_schema,
        "tasks": [{"ui": task.ui, "inputSchema": task.input_schema} for task in event.tasks],
    }
