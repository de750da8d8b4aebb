"""POST /requests/{id}/events."""

from attrs import evolve, frozen
from opentelemetry.trace import Tracer
from starlette.responses import Response

from orchestrator_domain.identifiers import EventKey, RequestId
from orchestrator_domain.request.acceptance import AcceptEventCommand
from orchestrator_domain.usecases.accept_event import AcceptEvent, EventAccepted
from orchestrator_http.addresses import execution_address
from orchestrator_http.call import Call
from orchestrator_http.payloads import json_response, members, object_of, text_of
from orchestrator_http.preconditions import required_idempotency_key, required_precondition
from orchestrator_http.tracing import place_in_trace, records
from orchestrator_http.views import execution_summary


@frozen(kw_only=True)
class EventHandlers:
    """Take events."""

    accept_event: AcceptEvent
    tracer: Tracer

    async def accept(self, call: Call) -> Response:
        """Accept an event durably: 202 with the place of its execution, which a worker carries on."""
        command = await _command(call)
        accepted = await (
            self._traced(command, call) if records(self.tracer) else self._accepted(command, call)
        )
        headers = {
            "Location": execution_address(accepted.execution.id),
            "Retry-After": "1",
            **({"Idempotent-Replayed": "true"} if accepted.replayed else {}),
        }
        return json_response(execution_summary(accepted.execution), status=202, headers=headers)

    async def _traced(self, command: AcceptEventCommand, call: Call) -> EventAccepted:
        with self.tracer.start_as_current_span(
            "accept event", record_exception=False, set_status_on_exception=False
        ) as span:
            accepted = await self._accepted(command, call)
            if span.is_recording():
                span.set_attribute("orchestrator.request.id", str(command.request_id))
                span.set_attribute("orchestrator.execution.id", str(accepted.execution.id))
            return accepted

    async def _accepted(self, command: AcceptEventCommand, call: Call) -> EventAccepted:
        return await self.accept_event(evolve(command, trace_parent=place_in_trace()), call.actor)


async def _command(call: Call) -> AcceptEventCommand:
    request_id = RequestId(call.path_uuid("requestId"))
    key = required_idempotency_key(call.headers)
    precondition = required_precondition(call.headers)
    body = members(await call.json_object(), required={"event": str}, optional={"data": dict})
    return AcceptEventCommand(
        request_id=request_id,
        event=EventKey(text_of(body, "event")),
        data=object_of(body, "data") if "data" in body else {},
        key=key,
        precondition=precondition,
        correlation_id=call.correlation_id,
    )
