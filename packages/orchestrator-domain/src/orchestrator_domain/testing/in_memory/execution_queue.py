"""Executions handed out under leases. No method awaits anything, so each is one indivisible step."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from attrs import evolve

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.identifiers import ExecutionId, FencingToken, LeaseOwner
from orchestrator_domain.ports.execution_queue import (
    CheckpointWrite,
    ClaimedExecution,
    ExecutionQueue,
    Renewed,
)
from orchestrator_domain.testing.in_memory.fenced_run import FencedRun
from orchestrator_domain.testing.in_memory.rows import ExecutionRow, Lease
from orchestrator_domain.testing.in_memory.store import InMemoryStore, Session


class InMemoryExecutionQueue(ExecutionQueue):
    def __init__(self, store: InMemoryStore) -> None:
        self._store = store

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        session = self._store.session()
        now = session.clock.now()
        lease = Lease(owner=owner, until=now + timedelta(seconds=lease_seconds))
        claimed = [_claimed(session, row, lease, now) for row in _due(session, now)[:limit]]
        session.commit()
        return claimed

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        session = self._store.session()
        now = session.clock.now()
        until = now + timedelta(seconds=lease_seconds)
        found = [(session.executions.get(fence.execution_id), fence) for fence in fences]
        held = [row for row, fence in found if row is not None and row.held_under(fence, now)]
        for row in held:
            assert row.lease is not None, "a row that is held has a lease"
            session.executions.put(row.execution.id, evolve(row, lease=evolve(row.lease, until=until)))
        session.commit()
        return Renewed(
            held=frozenset(row.execution.id for row in held),
            given_back=frozenset(
                row.execution.id for row, fence in found if row is not None and row.given_back_under(fence)
            ),
        )

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        run = self._fenced(fence)
        run.require_accepted()
        run.write(writes)
        run.commit()

    async def retry_later(
        self,
        fence: Fence,
        writes: Sequence[CheckpointWrite],
        *,
        delay_seconds: float,
        error_code: str,
        fact: AuditFact,
    ) -> None:
        run = self._fenced(fence)
        run.require_accepted()
        run.write(writes)
        run.wait_until(run.now + timedelta(seconds=delay_seconds), error_code=error_code)
        run.append(fact)
        run.commit()

    async def fail(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        run = self._fenced(fence)
        run.write(writes)
        run.end(ExecutionStatus.FAILED, error_code=error_code)
        run.move(run.request.released())
        run.append(fact)
        run.commit()

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        run = self._fenced(fence)
        run.write(writes)
        run.end(ExecutionStatus.RECONCILIATION_REQUIRED, error_code=error_code)
        run.append(fact)
        run.commit()

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        run = self._fenced(fence)
        run.require_accepted()
        run.write(writes)
        run.require_succeeded(succeeded)
        run.end(ExecutionStatus.SUCCEEDED, result=completion.result)
        run.move(run.request.transitioned(state=completion.state, data=completion.data))
        run.link(completion.documents)
        run.append(fact)
        run.commit()

    def _fenced(self, fence: Fence) -> FencedRun:
        """Begin a write; the deliberately broken queues of a simulation begin it otherwise."""
        return FencedRun(self._store.session(), fence)


def _due(session: Session, now: datetime) -> list[ExecutionRow]:
    """Return what may be claimed, in the order of next attempt, creation and id (worker document)."""
    active = (session.executions.get(execution_id) for execution_id in session.active_executions.values())
    due = ((_due_at(row), row) for row in active if row is not None)
    ready = [row for due_at, row in due if due_at is not None and due_at <= now]
    return sorted(ready, key=_order)


def _order(row: ExecutionRow) -> tuple[datetime, datetime, ExecutionId]:
    execution = row.execution
    assert execution.next_attempt_at is not None, "a stored execution has its times"
    assert execution.created_at is not None, "a stored execution has its times"
    return execution.next_attempt_at, execution.created_at, execution.id


def _due_at(row: ExecutionRow) -> datetime | None:
    match row.execution.status:
        case ExecutionStatus.PENDING | ExecutionStatus.RETRY_WAIT:
            return row.execution.next_attempt_at
        case ExecutionStatus.RUNNING:
            return None if row.lease is None else row.lease.until
        case _:
            return None


def _claimed(session: Session, row: ExecutionRow, lease: Lease, now: datetime) -> ClaimedExecution:
    execution = evolve(
        row.execution,
        status=ExecutionStatus.RUNNING,
        attempts=row.execution.attempts + 1,
        fencing_token=FencingToken(row.execution.fencing_token + 1),
        error_code=None,
        updated_at=now,
    )
    claims = row.claims_without_progress + 1
    claimed_row = evolve(row, execution=execution, lease=lease, claims_without_progress=claims)
    session.executions.put(execution.id, claimed_row)
    request = session.requests.get(execution.request_id)
    assert request is not None, "an execution's request is never removed"
    return ClaimedExecution(
        fence=_fence(claimed_row, lease),
        execution=execution,
        request=request.request,
        checkpoints=_checkpoints(session, execution.id, now),
        claims_without_progress=claims,
    )


def _fence(row: ExecutionRow, lease: Lease) -> Fence:
    return Fence(
        execution_id=row.execution.id,
        request_id=row.execution.request_id,
        owner=lease.owner,
        token=row.execution.fencing_token,
    )


def _checkpoints(session: Session, execution_id: ExecutionId, now: datetime) -> tuple[Checkpoint, ...]:
    rows = session.checkpoints.get(execution_id) or {}
    return tuple(row.read_at(now) for row in rows.values())
