"""The routes below /admin/executions: what waits for an operator, and how it is resolved."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, assert_never, cast
from uuid import UUID

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.reconciliation import (
    CloseWithoutTransition,
    Evidence,
    ResolutionKind,
    ResolveCommand,
    ResumeEffectAbsent,
    ResumeWithResult,
    Way,
)
from orchestrator_domain.identifiers import ActionKey, ExecutionId, FencingToken
from orchestrator_domain.ports.reconciliation_store import CasePosition
from orchestrator_domain.usecases.permissions import EXECUTION_OPERATOR, require_any
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions
from orchestrator_http.call import Call
from orchestrator_http.case_views import case_detail, case_view, resolved_view
from orchestrator_http.cursors import Cursors
from orchestrator_http.lists import LIST_PARAMETERS, ListReading, page_response
from orchestrator_http.payloads import json_response, members, object_of, text_of
from orchestrator_http.preconditions import required_idempotency_key
from orchestrator_http.refusals import InvalidBody, InvalidQuery

_LISTED: Final = tuple(status.value for status in ExecutionStatus if status.active)


@frozen(kw_only=True)
class ResolutionHandlers:
    """Show operators the executions of their scopes, and take resolutions."""

    stopped_executions: StoppedExecutions
    resolve_execution: ResolveExecution
    cursors: Cursors

    async def list(self, call: Call) -> Response:
        """Show a page of the executions in one status, those that have stood like this longest first."""
        query = call.query("status", *LIST_PARAMETERS)
        status = _status(query)
        reading = ListReading.of(
            query, "admin/executions", call.actor, self.cursors, filtered={"status": status.value}
        )
        page = await self.stopped_executions.list_cases(
            call.actor, status=status, after=reading.after(_position), limit=reading.limit
        )
        items = [case_view(shown) for shown in page.items]
        return page_response(items, reading.cursor(_place(page.last)))

    async def show(self, call: Call) -> Response:
        """Show one execution with all its actions, and every resolution so far."""
        shown = await self.stopped_executions.find(_execution_id(call), call.actor)
        headers = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
        return json_response(case_detail(shown), headers=headers)

    async def resolve(self, call: Call) -> Response:
        """Take a resolution: 200 with the execution as it is then, also if it had been taken before."""
        require_any(call.actor, EXECUTION_OPERATOR)
        resolved = await self.resolve_execution(await _command(call), call.actor)
        headers = {"Idempotent-Replayed": "true"} if resolved.replayed else {}
        return json_response(resolved_view(resolved), headers=headers)


def _execution_id(call: Call) -> ExecutionId:
    return ExecutionId(call.path_uuid("executionId"))


async def _command(call: Call) -> ResolveCommand:
    execution_id = _execution_id(call)
    key = required_idempotency_key(call.headers)
    body = members(
        await call.json_object(),
        required={"resolution": str, "evidence": dict},
        optional={"actionId": str, "stop": int, "result": dict},
    )
    return ResolveCommand(
        execution_id=execution_id,
        action=ActionKey(text_of(body, "actionId")) if "actionId" in body else None,
        way=_way(body),
        evidence=_evidence(object_of(body, "evidence")),
        key=key,
        correlation_id=call.correlation_id,
        stop=_stop(body),
    )


def _stop(body: JsonObject) -> FencingToken | None:
    if "stop" not in body:
        return None
    token = cast("int", body["stop"])
    if token < 1:
        raise InvalidBody("A stop is named by the number that the execution shows.", pointer="/stop")
    return FencingToken(token)


def _way(body: JsonObject) -> Way:
    named = text_of(body, "resolution")
    if named not in list(ResolutionKind):
        raise InvalidBody(
            f"The resolution must be one of {', '.join(ResolutionKind)}.", pointer="/resolution"
        )
    kind = ResolutionKind(named)
    if ("result" in body) is not (kind is ResolutionKind.RESUME_WITH_RESULT):
        raise InvalidBody("A result belongs to RESUME_WITH_RESULT, and only to it.", pointer="/result")
    match kind:
        case ResolutionKind.RESUME_WITH_RESULT:
            return ResumeWithResult(result=object_of(body, "result"))
        case ResolutionKind.RESUME_EFFECT_ABSENT:
            return ResumeEffectAbsent()
        case ResolutionKind.CLOSE_WITHOUT_TRANSITION:
            return CloseWithoutTransition()
    assert_never(kind)


def _evidence(given: JsonObject) -> Evidence:
    evidence = members(given, required={"text": str, "reference": str}, within="/evidence")
    return Evidence(text=text_of(evidence, "text"), reference=text_of(evidence, "reference"))


def _status(query: Mapping[str, str]) -> ExecutionStatus:
    named = query.get("status", ExecutionStatus.RECONCILIATION_REQUIRED.value)
    if named not in _LISTED:
        raise InvalidQuery(f"The parameter status must be one of {', '.join(_LISTED)}.")
    return ExecutionStatus(named)


def _place(last: CasePosition | None) -> JsonObject | None:
    return None if last is None else {"since": last.since.isoformat(), "id": str(last.execution_id)}


def _position(place: JsonObject) -> CasePosition:
    return CasePosition(
        since=datetime.fromisoformat(cast("str", place["since"])),
        execution_id=ExecutionId(UUID(cast("str", place["id"]))),
    )
