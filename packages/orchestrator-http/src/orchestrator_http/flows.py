"""The routes below /admin/flows."""

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_http.addresses import flow_address
from orchestrator_http.call import Call
from orchestrator_http.payloads import json_response
from orchestrator_http.preconditions import entity_tag, optional_precondition
from orchestrator_http.views import flow_summary, flow_view, report_view


@frozen(kw_only=True)
class FlowHandlers:
    """Write, validate, publish and show flow versions."""

    author_flow: AuthorFlow

    async def create(self, call: Call) -> Response:
        """Store the definition in the body as a draft."""
        flow = await self.author_flow.create_draft(
            await call.json_object(), call.actor, correlation_id=call.correlation_id
        )
        location = {"Location": flow_address(flow.id)}
        return json_response(flow_summary(flow), status=201, headers={**location, **_tag(flow)})

    async def show(self, call: Call) -> Response:
        flow = await self.author_flow.find(_flow_id(call), call.actor)
        headers = {"Vary": "Authorization", "Cache-Control": "private, no-cache", **_tag(flow)}
        return json_response(flow_view(flow), headers=headers)

    async def validate(self, call: Call) -> Response:
        """Answer 200 with every finding, also when there are errors: the validation itself has succeeded."""
        return json_response(report_view(await self.author_flow.validate(_flow_id(call), call.actor)))

    async def publish(self, call: Call) -> Response:
        flow = await self.author_flow.publish(
            _flow_id(call),
            call.actor,
            precondition=optional_precondition(call.headers),
            correlation_id=call.correlation_id,
        )
        return json_response(flow_summary(flow), headers=_tag(flow))


def _flow_id(call: Call) -> FlowId:
    return FlowId(call.path_uuid("flowId"))


def _tag(flow: StoredFlow) -> dict[str, str]:
    return {"ETag": entity_tag(flow.revision)}
