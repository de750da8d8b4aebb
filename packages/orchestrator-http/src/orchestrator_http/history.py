"""GET /requests/{id}/history."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from attrs import frozen
from starlette.responses import Response

from orchestrator_domain.audit import AuditEntry, AuditKind
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.history import HistoryFilter
from orchestrator_domain.usecases.read_history import HistoryShown, ReadHistory
from orchestrator_http.call import UUID_FORM, Call
from orchestrator_http.cursors import Cursors
from orchestrator_http.lists import LIST_PARAMETERS, ListReading, page_response
from orchestrator_http.moments import moment_of
from orchestrator_http.refusals import InvalidQuery
from orchestrator_http.views import moment

_FILTERS: Final = ("kind", "executionId", "from", "to")


@frozen(kw_only=True)
class HistoryHandlers:
    """Show what has happened to a request."""

    read_history: ReadHistory
    cursors: Cursors

    async def show(self, call: Call) -> Response:
        """Show a page of the history; details (reasons, rule ids) only to an AUDITOR."""
        request_id = RequestId(call.path_uuid("requestId"))
        asked = call.query(*_FILTERS, *LIST_PARAMETERS)
        reading = ListReading.of(
            asked,
            f"history/{request_id}",
            call.actor,
            self.cursors,
            filtered={name: asked[name] for name in _FILTERS if name in asked},
        )
        shown = await self.read_history(
            request_id,
            call.actor,
            wanted=_filter(asked),
            after=reading.after(_place) or 0,
            limit=reading.limit,
        )
        last = shown.page.last
        return page_response(
            [_entry(entry, shown) for entry in shown.page.items],
            reading.cursor(None if last is None else {"sequence": last}),
        )


def _filter(asked: Mapping[str, str]) -> HistoryFilter:
    return HistoryFilter(
        kind=_kind(asked["kind"]) if "kind" in asked else None,
        execution_id=_execution(asked["executionId"]) if "executionId" in asked else None,
        since=_moment(asked, "from"),
        until=_moment(asked, "to"),
    )


def _kind(text: str) -> AuditKind:
    if text not in list(AuditKind):
        raise InvalidQuery(f"The parameter kind must be one of {', '.join(AuditKind)}.")
    return AuditKind(text)


def _execution(text: str) -> ExecutionId:
    if not UUID_FORM.fullmatch(text):
        raise InvalidQuery("The parameter executionId must be the id of an execution, a UUID.")
    return ExecutionId(UUID(text))


def _moment(asked: Mapping[str, str], name: str) -> datetime | None:
    text = asked.get(name)
    if text is None:
        return None
    found = moment_of(text)
    if found is None:
        raise InvalidQuery(
            f"The parameter {name} must be a moment with its offset, such as 2026-10-25T12:00:00Z; write + as %2B."
        )
    return found


def _place(position: JsonObject) -> int:
    sequence = position["sequence"]
    assert isinstance(sequence, int), "a place in a history is a sequence"
    return sequence


def _entry(entry: AuditEntry, shown: HistoryShown) -> JsonObject:
    return {
        "sequence": entry.sequence,
        "kind": entry.kind.value,
        "actor": entry.actor,
        "executionId": None if entry.execution_id is None else str(entry.execution_id),
        "flowId": str(entry.flow_id),
        "fromState": entry.from_state,
        "toState": entry.to_state,
        "createdAt": moment(entry.created_at),
        **({"detail": entry.detail} if shown.with_detail else {}),
    }
