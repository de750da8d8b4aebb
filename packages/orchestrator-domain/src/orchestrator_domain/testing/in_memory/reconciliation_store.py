"""What operators see and resolve, in one session."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from itertools import islice

from attrs import evolve

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.probe import probes_made
from orchestrator_domain.execution.reconciliation import Resolved
from orchestrator_domain.identifiers import BusinessScope, ExecutionId
from orchestrator_domain.ports.reconciliation_store import (
    CasePosition,
    ExecutionCase,
    ReconciliationStore,
    ResolutionRecord,
)
from orchestrator_domain.testing.in_memory.history import append_fact
from orchestrator_domain.testing.in_memory.rows import ExecutionRow, RequestRow
from orchestrator_domain.testing.in_memory.store import Session


class InMemoryReconciliationStore(ReconciliationStore):
    def __init__(self, session: Session) -> None:
        self._session = session

    async def list_cases(
        self,
        scopes: Collection[BusinessScope],
        *,
        status: ExecutionStatus,
        after: CasePosition | None,
        limit: int,
    ) -> Sequence[ExecutionCase]:
        behind = None if after is None else (after.since, after.execution_id)
        found = sorted(self._in_scope(scopes, status), key=_place)
        behind_it = (case for case in found if behind is None or _place(case) > behind)
        return [_without_data(case) for case in islice(behind_it, limit)]

    async def find_case(
        self, execution_id: ExecutionId, scopes: Collection[BusinessScope]
    ) -> ExecutionCase | None:
        row = self._session.executions.get(execution_id)
        return None if row is None else self._case(row, scopes)

    async def lock_case(
        self, execution_id: ExecutionId, scopes: Collection[BusinessScope]
    ) -> ExecutionCase | None:
        """Read without waiting: if another story commits first, this one is run again."""
        return await self.find_case(execution_id, scopes)

    async def resolutions(self, execution_id: ExecutionId) -> Sequence[ResolutionRecord]:
        return self._session.resolutions.get(execution_id) or ()

    async def save(
        self, case: ExecutionCase, resolved: Resolved, *, record: ResolutionRecord, fact: AuditFact
    ) -> Execution:
        now = self._session.clock.now()
        execution = evolve(
            resolved.execution,
            updated_at=now,
            next_attempt_at=now if resolved.execution.status.active else case.execution.next_attempt_at,
        )
        self._replace_execution(execution)
        self._replace_checkpoint(resolved, now)
        earlier = self._session.resolutions.get(record.execution_id) or ()
        self._session.resolutions.put(record.execution_id, (*earlier, evolve(record, created_at=now)))
        self._move_request(case, execution, fact, now)
        return execution

    def _in_scope(
        self, scopes: Collection[BusinessScope], status: ExecutionStatus
    ) -> Iterator[ExecutionCase]:
        for row in self._session.executions.values():
            case = self._case(row, scopes) if row.execution.status is status else None
            if case is not None:
                yield case

    def _case(self, row: ExecutionRow, scopes: Collection[BusinessScope]) -> ExecutionCase | None:
        request = self._request_row(row.execution).request
        if request.scope not in scopes:
            return None
        now = self._session.clock.now()
        checkpoints = (self._session.checkpoints.get(row.execution.id) or {}).values()
        return ExecutionCase(
            execution=row.execution,
            request=request,
            checkpoints=tuple(checkpoint.read_at(now) for checkpoint in checkpoints),
            probes=probes_made(self._told(row)),
        )

    def _told(self, row: ExecutionRow) -> Iterator[tuple[JsonObject | None, datetime]]:
        length = self._request_row(row.execution).audit_sequence
        for place in range(1, length + 1):
            entry = self._session.history.get((row.execution.request_id, place))
            if entry is not None and entry.execution_id == row.execution.id:
                yield entry.detail, entry.created_at

    def _request_row(self, execution: Execution) -> RequestRow:
        row = self._session.requests.get(execution.request_id)
        assert row is not None, "an execution's request is never removed"
        return row

    def _replace_execution(self, execution: Execution) -> None:
        row = self._session.executions.get(execution.id)
        assert row is not None, "the case was read in this session"
        self._session.executions.put(
            execution.id, evolve(row, execution=execution, lease=None, claims_without_progress=0)
        )
        if not execution.status.active:
            self._session.active_executions.remove(execution.request_id)

    def _replace_checkpoint(self, resolved: Resolved, now: datetime) -> None:
        if resolved.checkpoint is None:
            return
        rows = dict(self._session.checkpoints.get(resolved.execution.id) or {})
        row = rows[resolved.checkpoint.action]
        # A fresh one has never begun; one that is over ends now.
        tried = resolved.checkpoint.attempts > 0
        checkpoint = evolve(
            resolved.checkpoint,
            started_at=row.checkpoint.started_at if tried else None,
            finished_at=now if tried else None,
        )
        rows[checkpoint.action] = evolve(row, checkpoint=checkpoint)
        self._session.checkpoints.put(resolved.execution.id, rows)

    def _move_request(
        self, case: ExecutionCase, execution: Execution, fact: AuditFact, now: datetime
    ) -> None:
        row = self._request_row(execution)
        if not execution.status.active:
            row = evolve(row, request=evolve(case.request.released(), updated_at=now))
        append_fact(self._session, row, fact)


def _without_data(case: ExecutionCase) -> ExecutionCase:
    return evolve(
        case, request=evolve(case.request, data={}), execution=evolve(case.execution, event_data={})
    )


def _place(case: ExecutionCase) -> tuple[datetime, ExecutionId]:
    assert case.execution.updated_at is not None, "a stored execution has its times"
    return case.execution.updated_at, case.execution.id
