"""POST /requests and GET /requests/{id}."""

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.identifiers import BusinessScope, RequestId, RequestTypeKey
from orchestrator_domain.request.creation import CreateRequestCommand
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_http.addresses import request_address
from orchestrator_http.call import Call
from orchestrator_http.change_poll import WatchedRequest
from orchestrator_http.conditional_read import ConditionalReads, Representation
from orchestrator_http.payloads import json_response, members, object_of, text_of
from orchestrator_http.preconditions import entity_tag, required_idempotency_key
from orchestrator_http.views import request_summary, request_view


@frozen(kw_only=True)
class RequestHandlers:
    """Create and show requests."""

    create_request: CreateRequest
    read_request: ReadRequest
    conditional_reads: ConditionalReads

    async def create(self, call: Call) -> Response:
        """Create a request: 201 with its place and ETag; a repeat says so and shows the request as it is now."""
        created = await self.create_request(await _command(call), call.actor)
        request = created.request.request
        headers = {
            "Location": request_address(request.id),
            "ETag": entity_tag(request.revision),
            **({"Idempotent-Replayed": "true"} if created.replayed else {}),
        }
        body = request_summary(request, active=created.request.active_execution)
        return json_response(body, status=201, headers=headers)

    async def show(self, call: Call) -> Response:
        """Show a request with what its reader may see of its data."""
        request_id = RequestId(call.path_uuid("requestId"))

        async def look() -> Representation:
            shown = await self.read_request.request(request_id, call.actor)
            body = request_view(shown.request, data=shown.data, active=shown.active_execution)
            return Representation(body=body, tag=entity_tag(shown.request.revision))

        return await self.conditional_reads.answer(call, WatchedRequest(request_id), look)


async def _command(call: Call) -> CreateRequestCommand:
    key = required_idempotency_key(call.headers)
    body = members(
        await call.json_object(),
        required={"typeKey": str},
        optional={"data": dict, "businessScope": str},
    )
    return CreateRequestCommand(
        type_key=RequestTypeKey(text_of(body, "typeKey")),
        data=object_of(body, "data") if "data" in body else {},
        scope=BusinessScope(text_of(body, "businessScope")) if "businessScope" in body else None,
        key=key,
        correlation_id=call.correlation_id,
    )
