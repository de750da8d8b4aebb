"""The slots of a worker: at most N runs at once, each of them holding its lease while it lasts."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from orchestrator_domain.errors import CheckpointMoved, LeaseLost
from orchestrator_domain.execution.execution import Execution, Fence
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.observer import Observer
from orchestrator_worker.fault_origin import code_of, kind_of, origin_of


class Runner(Protocol):
    """Carry out one claimed execution to its end, or raise LeaseLost once it isn't ours any more (CheckpointMoved says as much)."""

    def run(self, claimed: ClaimedExecution) -> Coroutine[Any, Any, object]: ...


class LeaseHolder(Protocol):
    """Keep leases alive, as LeaseRenewal does."""

    def hold(self, fence: Fence, *, lost: Callable[[], None]) -> None: ...

    def release(self, fence: Fence) -> None: ...


class Slots:
    """Run claimed executions. `freed` is called whenever a slot has become free.

    A run that fails unexpectedly is told to the observer and leaves its lease to run out, so that another worker
    recovers it.
    """

    def __init__(
        self,
        *,
        count: int,
        runner: Runner,
        leases: LeaseHolder,
        observer: Observer,
        freed: Callable[[], None],
    ) -> None:
        self._count = count
        self._runner = runner
        self._leases = leases
        self._observer = observer
        self._freed = freed
        self._running: set[asyncio.Task[Any]] = set()
        self._cancelling = False

    @property
    def in_use(self) -> int:
        return len(self._running)

    @property
    def free(self) -> int:
        return self._count - len(self._running)

    def start(self, claimed: ClaimedExecution) -> None:
        """Run it in a free slot and renew its lease until it ends."""
        self._observer.execution_claimed(
            execution_id=claimed.execution.id,
            attempt=claimed.execution.attempts,
            due_seconds=_due_seconds(claimed.execution),
        )
        task = asyncio.create_task(self._runner.run(claimed), name=f"execution {claimed.execution.id}")
        self._running.add(task)
        self._leases.hold(claimed.fence, lost=lambda: _cancel(task))
        # In the run's own context: what is told of its end is told with what the run said of itself.
        task.add_done_callback(lambda ended: self._ended(ended, claimed.fence), context=task.get_context())

    async def ended(self, *, within_seconds: float) -> bool:
        """Wait until no run is left, at most so long; return whether that is so."""
        if self._running:
            await asyncio.wait(self._running, timeout=within_seconds)
        return not self._running

    def cancel(self) -> None:
        """Cancel every run. What was called may have happened all the same: the checkpoints know."""
        self._cancelling = True
        for task in self._running:
            task.cancel()

    def _ended(self, task: asyncio.Task[Any], fence: Fence) -> None:
        self._running.discard(task)
        self._leases.release(fence)
        self._tell_end(task, fence.execution_id)
        self._freed()

    def _tell_end(self, task: asyncio.Task[Any], execution_id: ExecutionId) -> None:
        if task.cancelled():
            if not self._cancelling:
                self._observer.lease_lost(execution_id=execution_id)
            return
        match task.exception():
            case None:
                return
            case LeaseLost() | CheckpointMoved():
                self._observer.lease_lost(execution_id=execution_id)
            case error:
                self._observer.worker_disturbed(
                    execution_id=execution_id,
                    code=code_of(error),
                    kind=kind_of(error),
                    origin=origin_of(error),
                )


def _due_seconds(execution: Execution) -> float | None:
    """Return for how long it had been due at its claim, by the store's clock, which wrote both moments."""
    if execution.updated_at is None or execution.next_attempt_at is None:
        return None
    return (execution.updated_at - execution.next_attempt_at).total_seconds()


def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
