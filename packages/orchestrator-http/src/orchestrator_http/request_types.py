"""The routes below /admin/request-types."""

from uuid import UUID

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.flow.lifecycle import RequestType
from orchestrator_domain.identifiers import FlowId, RequestTypeKey
from orchestrator_domain.usecases.activate_flow import ActivateFlow
from orchestrator_http.call import UUID_FORM, Call
from orchestrator_http.payloads import json_response, members, text_of
from orchestrator_http.preconditions import entity_tag, required_type_precondition
from orchestrator_http.refusals import InvalidBody
from orchestrator_http.views import request_type_view


@frozen(kw_only=True)
class RequestTypeHandlers:
    """Show request types and choose their active flows."""

    activate_flow: ActivateFlow

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


def _key(call: Call) -> RequestTypeKey:
    return RequestTypeKey(call.path_key("typeKey"))


async def _named_flow(call: Call) -> FlowId:
    flow_id = text_of(members(await call.json_object(), required={"flowId": str}), "flowId")
    if not UUID_FORM.fullmatch(flow_id):
        raise InvalidBody("The member must be the id of a flow, a UUID.", pointer="/flowId")
    return FlowId(UUID(flow_id))


def _answer(request_type: RequestType, headers: dict[str, str]) -> Response:
    return json_response(
        request_type_view(request_type), headers={**headers, "ETag": entity_tag(request_type.revision)}
    )
