"""Queues with one protection left out. Each is here to be caught."""

from collections.abc import Collection, Sequence
from datetime import timedelta

from attrs import evolve
from tests.simulation.stepping import Pause, pause

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.errors import LeaseLost
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.identifiers import FencingToken, LeaseOwner
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution, Renewed
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.in_memory.fenced_run import FencedRun
from orchestrator_domain.testing.in_memory.rows import ExecutionRow


class _WithoutFence(FencedRun):
    def _held(self, fence: Fence) -> ExecutionRow:
        row = self._session.executions.get(fence.execution_id)
        if row is None or row.lease is None:
            raise LeaseLost("Nobody holds this execution.")
        return row


class FenceNotComparedOnCheckpoint(InMemoryExecutionQueue):
    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        run = _WithoutFence(self._store.session(), fence)
        run.require_accepted()
        run.write(writes)
        run.commit()


class FenceNotComparedOnCompletion(InMemoryExecutionQueue):
    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        run = _WithoutFence(self._store.session(), fence)
        run.require_accepted()
        run.write(writes)
        run.require_succeeded(succeeded)
        run.end(ExecutionStatus.SUCCEEDED, result=completion.result)
        run.move(run.request.transitioned(state=completion.state, data=completion.data))
        run.append(fact)
        run.commit()


class _WithoutLease(FencedRun):
    def _held(self, fence: Fence) -> ExecutionRow:
        row = self._session.executions.get(fence.execution_id)
        if row is None or row.lease is None or row.lease.owner != fence.owner:
            raise LeaseLost("Another worker holds this execution.")
        if row.execution.fencing_token != fence.token:
            raise LeaseLost("It was claimed again.")
        return row


class ExpiredLeaseMayWrite(InMemoryExecutionQueue):
    def _fenced(self, fence: Fence) -> FencedRun:
        return _WithoutLease(self._store.session(), fence)


class RenewalRevivesExpiredLease(InMemoryExecutionQueue):
    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        rows, until = self._store.executions.rows, self._store.clock.now() + timedelta(seconds=lease_seconds)
        for fence in fences:
            row = rows[fence.execution_id]
            if row.lease is not None and row.execution.fencing_token == fence.token:
                rows[fence.execution_id] = evolve(row, lease=evolve(row.lease, until=until))
        return Renewed(held=frozenset(fence.execution_id for fence in fences))


class TokenNotRaisedByClaim(InMemoryExecutionQueue):
    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        claimed = await super().claim(owner=owner, limit=limit, lease_seconds=lease_seconds)
        token, rows = FencingToken(1), self._store.executions.rows
        for one in claimed:
            row = rows[one.execution.id]
            rows[one.execution.id] = evolve(row, execution=evolve(row.execution, fencing_token=token))
        return [evolve(one, fence=evolve(one.fence, token=token)) for one in claimed]


class ClaimIgnoresRunningLease(InMemoryExecutionQueue):
    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        rows, now = self._store.executions.rows, self._store.clock.now()
        for row in list(rows.values()):
            if row.lease is not None:
                rows[row.execution.id] = evolve(row, lease=evolve(row.lease, until=now))
        return await super().claim(owner=owner, limit=limit, lease_seconds=lease_seconds)


class _WithoutTime(FencedRun):
    def commit(self) -> None:
        execution = self._execution.execution
        if execution.status is ExecutionStatus.RETRY_WAIT:
            execution = evolve(execution, next_attempt_at=None)
            self._execution = evolve(self._execution, execution=execution)
        super().commit()


class RetryWaitsForNothing(InMemoryExecutionQueue):
    def _fenced(self, fence: Fence) -> FencedRun:
        return _WithoutTime(self._store.session(), fence)


class _OnAnyRequest(FencedRun):
    def require_accepted(self) -> None:
        """Take the request as it is."""


class CompletionWithoutRevisionCheck(InMemoryExecutionQueue):
    def _fenced(self, fence: Fence) -> FencedRun:
        return _OnAnyRequest(self._store.session(), fence)


class CompletionInTwoTransactions(InMemoryExecutionQueue):
    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,  # noqa: ARG002 - the second transaction never comes to it
    ) -> None:
        run = self._fenced(fence)
        run.require_accepted()
        run.write(writes)
        run.require_succeeded(succeeded)
        run.end(ExecutionStatus.SUCCEEDED, result=completion.result)
        run.commit()
        await pause(Pause("between the two transactions of a completion"))
        row = self._store.requests.rows[fence.request_id]
        moved = row.request.transitioned(state=completion.state, data=completion.data)
        self._store.requests.rows[fence.request_id] = evolve(row, request=moved)


class SucceededIsRepeated(InMemoryExecutionQueue):
    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        claimed = await super().claim(owner=owner, limit=limit, lease_seconds=lease_seconds)
        return [evolve(one, checkpoints=tuple(map(_as_if_to_be_retried, one.checkpoints))) for one in claimed]

    def _fenced(self, fence: Fence) -> FencedRun:
        return _Upserting(self._store.session(), fence)


def _as_if_to_be_retried(checkpoint: Checkpoint) -> Checkpoint:
    if checkpoint.status is not CheckpointStatus.SUCCEEDED:
        return checkpoint
    return evolve(checkpoint, status=CheckpointStatus.PENDING, result=None)


class _Upserting(FencedRun):
    def write(self, writes: Sequence[CheckpointWrite]) -> None:
        super().write([evolve(write, before=self._stored(write)) for write in writes])

    def _stored(self, write: CheckpointWrite) -> tuple[CheckpointStatus, int] | None:
        stored = self._checkpoints.get(write.after.action)
        return None if stored is None else (stored.checkpoint.status, stored.checkpoint.attempts)


class CheckpointsAreUpserted(InMemoryExecutionQueue):
    def _fenced(self, fence: Fence) -> FencedRun:
        return _Upserting(self._store.session(), fence)


class ClaimReadsBeforeItLocks(InMemoryExecutionQueue):
    """Give a claim the checkpoints of a snapshot that is older than its lock (race 16), as one statement would."""

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        snapshot = dict(self._store.checkpoints.rows)
        await pause(Pause("between a claim's snapshot and its lock"))
        claimed = await super().claim(owner=owner, limit=limit, lease_seconds=lease_seconds)
        now = self._store.clock.now()
        return [
            evolve(
                one,
                checkpoints=tuple(row.read_at(now) for row in snapshot.get(one.execution.id, {}).values()),
            )
            for one in claimed
        ]


class StaleCheckpointIsUpserted(ClaimReadsBeforeItLocks):
    def _fenced(self, fence: Fence) -> FencedRun:
        return _Upserting(self._store.session(), fence)
