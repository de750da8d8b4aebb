"""The routes below /admin/request-types."""

from typing import cast
from uuid import UUID

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import RequestType
from orchestrator_domain.identifiers import FlowId, RequestTypeKey
from orchestrator_domain.usecases.activate_flow import ActivateFlow
from orchestrator_http.call import UUID_FORM, Call
from orchestrator_http.cursors import Cursors
from orchestrator_http.lists import LIST_PARAMETERS, ListReading, page_response
from orchestrator_http.payloads import json_response, members, text_of, truth_of
from orchestrator_http.preconditions import (
    entity_tag,
    required_precondition,
    required_type_precondition,
)
from orchestrator_http.refusals import InvalidBody
from orchestrator_http.views import request_type_view


@frozen(kw_only=True)
class RequestTypeHandlers:
    """Show request types, choose their active flows, and open and close them."""

    activate_flow: ActivateFlow
    cursors: Cursors

    async def list(self, call: Call) -> Response:
        """Show types in the order of their keys."""
        reading = ListReading.of(call.query(*LIST_PARAMETERS), "request-types", call.actor, self.cursors)
        page = await self.activate_flow.list_types(
            call.actor, after=reading.after(_position), limit=reading.limit
        )
        items = [request_type_view(each) for each in page.items]
        return page_response(items, reading.cursor(None if page.last is None else {"typeKey": page.last}))

    async def show(self, call: Call) -> Response:
        request_type = await self.activate_flow.find(_key(call), call.actor)
        headers = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
        return _answer(request_type, headers)

    async def activate(self, call: Call) -> Response:
        """Point the type at the flow that the body names."""
        key = _key(call)
        precondition = required_type_precondition(call.headers)
        request_type = await self.activate_flow.activate(
            key,
            await _named_flow(call),
            precondition=precondition,
            actor=call.actor,
            correlation_id=call.correlation_id,
        )
        return _answer(request_type, {})

    async def switch(self, call: Call) -> Response:
        """Open the type to new requests or close it to them, as the body says."""
        precondition = required_precondition(call.headers)
        body = members(await call.json_object(), required={"enabled": bool})
        request_type = await self.activate_flow.switch(
            _key(call),
            enabled=truth_of(body, "enabled"),
            precondition=precondition,
            actor=call.actor,
            correlation_id=call.correlation_id,
        )
        return _answer(request_type, {})


def _key(call: Call) -> RequestTypeKey:
    return RequestTypeKey(call.path_key("typeKey"))


async def _named_flow(call: Call) -> FlowId:
    flow_id = text_of(members(await call.json_object(), required={"flowId": str}), "flowId")
    if not UUID_FORM.fullmatch(flow_id):
        raise InvalidBody("The member must be the id of a flow, a UUID.", pointer="/flowId")
    return FlowId(UUID(flow_id))


def _position(cursor: JsonObject) -> RequestTypeKey:
    return RequestTypeKey(cast("str", cursor["typeKey"]))


def _answer(request_type: RequestType, headers: dict[str, str]) -> Response:
    return json_response(
        request_type_view(request_type), headers={**headers, "ETag": entity_tag(request_type.revision)}
    )
