"""The routes below /admin/flows."""

from collections.abc import Mapping
from typing import cast

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import FlowId, FlowKey
from orchestrator_domain.ports.flow_store import FlowFilter, FlowPosition
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_http.addresses import flow_address
from orchestrator_http.call import Call
from orchestrator_http.cursors import Cursors
from orchestrator_http.lists import LIST_PARAMETERS, ListReading, page_response
from orchestrator_http.payloads import json_response
from orchestrator_http.preconditions import entity_tag, optional_precondition, required_precondition
from orchestrator_http.refusals import InvalidQuery
from orchestrator_http.views import flow_summary, flow_view, report_view


@frozen(kw_only=True)
class FlowHandlers:
    """Write, validate, publish, retire and show flow versions."""

    author_flow: AuthorFlow
    cursors: Cursors

    async def create(self, call: Call) -> Response:
        """Store the definition in the body as a draft."""
        flow = await self.author_flow.create_draft(
            await call.json_object(), call.actor, correlation_id=call.correlation_id
        )
        location = {"Location": flow_address(flow.id)}
        return json_response(flow_summary(flow.summary), status=201, headers={**location, **_tag(flow)})

    async def list(self, call: Call) -> Response:
        """Show versions without their definitions, in the order of key and version."""
        query = call.query("flowKey", "status", *LIST_PARAMETERS)
        matching = _filter(query)
        filtered: JsonObject = {name: query[name] for name in ("flowKey", "status") if name in query}
        reading = ListReading.of(query, "flows", call.actor, self.cursors, filtered=filtered)
        page = await self.author_flow.list_versions(
            call.actor, matching=matching, after=reading.after(_position), limit=reading.limit
        )
        items = [flow_summary(flow) for flow in page.items]
        return page_response(items, reading.cursor(_place(page.last)))

    async def edit(self, call: Call) -> Response:
        """Replace the definition of a draft by the one in the body."""
        precondition = required_precondition(call.headers)
        flow = await self.author_flow.edit(
            _flow_id(call),
            await call.json_object(),
            precondition=precondition,
            actor=call.actor,
            correlation_id=call.correlation_id,
        )
        return _changed(flow)

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
        return _changed(flow)

    async def retire(self, call: Call) -> Response:
        """Close a published version to new requests; answer 200 also if that was done before."""
        flow = await self.author_flow.retire(
            _flow_id(call),
            call.actor,
            precondition=optional_precondition(call.headers),
            correlation_id=call.correlation_id,
        )
        return _changed(flow)


def _flow_id(call: Call) -> FlowId:
    return FlowId(call.path_uuid("flowId"))


def _tag(flow: StoredFlow) -> dict[str, str]:
    return {"ETag": entity_tag(flow.revision)}


def _changed(flow: StoredFlow) -> Response:
    return json_response(flow_summary(flow.summary), headers=_tag(flow))


def _filter(query: Mapping[str, str]) -> FlowFilter:
    status, key = query.get("status"), query.get("flowKey")
    if status is not None and status not in FlowStatus:
        raise InvalidQuery(f"The parameter status must be one of {', '.join(FlowStatus)}.")
    return FlowFilter(
        flow_key=None if key is None else FlowKey(key), status=None if status is None else FlowStatus(status)
    )


def _place(last: FlowPosition | None) -> JsonObject | None:
    return None if last is None else {"flowKey": last.flow_key, "version": last.version}


def _position(cursor: JsonObject) -> FlowPosition:
    return FlowPosition(
        flow_key=FlowKey(cast("str", cursor["flowKey"])), version=cast("int", cursor["version"])
    )
