"""A worker with everything around it in a test's hands."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ExecutionId, FencingToken, LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_domain.testing.examples import draft_flow, execution_of, published, request_of
from orchestrator_domain.testing.recording_observer import (
    RecordingObserver,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings

PATIENCE_SECONDS = 10.0
OWNER = LeaseOwner("host:1:a")
IDENTIFIERS = SequentialIdentifiers()
FLOW = published(draft_flow(IDENTIFIERS))


def claimable() -> ClaimedExecution:
    request = request_of(FLOW, IDENTIFIERS).accepted()
    execution = execution_of(request, IDENTIFIERS)
    fence = Fence(execution_id=execution.id, request_id=request.id, owner=OWNER, token=FencingToken(1))
    return ClaimedExecution(fence=fence, execution=execution, request=request, checkpoints=())


class Queue:
    """Hand out what is waiting; fail first, if told so; hold a claim back, if told so."""

    def __init__(self, waiting: int = 0) -> None:
        self.waiting = [claimable() for _ in range(waiting)]
        self.failures: list[Exception] = []
        self.limits: list[int] = []
        self.handed_out: list[int] = []
        self.claimed = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        assert (owner, lease_seconds) == (OWNER, 60)
        self.limits.append(limit)
        self.claimed.set()
        await self.may_answer.wait()
        if self.failures:
            raise self.failures.pop(0)
        taken, self.waiting = self.waiting[:limit], self.waiting[limit:]
        self.handed_out.append(len(taken))
        return taken


class Runner:
    """Run until the test lets a run end, or ends at once with an error."""

    def __init__(self, ending: BaseException | None = None, *, at_once: bool = False) -> None:
        self.begun: list[ExecutionId] = []
        self.ended: list[ExecutionId] = []
        self.cancelled: list[ExecutionId] = []
        self.clings = False
        self._ending = ending
        self._may_end = asyncio.Semaphore(1_000_000 if at_once else 0)
        self._changed = asyncio.Condition()

    async def run(self, claimed: ClaimedExecution) -> None:
        await self._note(self.begun, claimed)
        try:
            await self._may_end.acquire()
        except asyncio.CancelledError:
            await self._note(self.cancelled, claimed)
            if not self.clings:
                raise
            await asyncio.Event().wait()
        if self._ending is not None:
            raise self._ending
        await self._note(self.ended, claimed)

    def let_end(self, count: int = 1) -> None:
        for _ in range(count):
            self._may_end.release()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS), self._changed:
            await self._changed.wait_for(condition)

    async def _note(self, into: list[ExecutionId], claimed: ClaimedExecution) -> None:
        async with self._changed:
            into.append(claimed.execution.id)
            self._changed.notify_all()


class Leases:
    """Stand for the renewal: remember what is held, and lose it when the test says so."""

    def __init__(self) -> None:
        self.held: dict[Fence, Callable[[], None]] = {}
        self.log: list[str] = []

    async def start(self) -> None:
        self.log.append("started")

    async def stop(self) -> None:
        self.log.append(f"stopped holding {len(self.held)}")

    def hold(self, fence: Fence, *, lost: Callable[[], None]) -> None:
        self.held[fence] = lost

    def release(self, fence: Fence) -> None:
        self.held.pop(fence, None)


class Hints(Wakeup):
    """Wait for the test's polls; remember how long the worker would have waited."""

    def __init__(self) -> None:
        self.timeouts: list[float] = []
        self.failures: list[Exception] = []
        self._polls = asyncio.Semaphore(0)

    def hint(self) -> None:
        self._polls.release()

    async def wait(self, *, timeout_seconds: float) -> None:
        self.timeouts.append(timeout_seconds)
        if self.failures:
            raise self.failures.pop()
        await self._polls.acquire()


class Desk:
    """A worker with everything around it in the test's hands."""

    def __init__(
        self, queue: Queue, runner: Runner, *, fraction: Callable[[], float] = lambda: 0.5, **settings: Any
    ) -> None:
        self.queue, self.runner = queue, runner
        self.leases, self.hints, self.observer = Leases(), Hints(), RecordingObserver()
        self.worker = Worker(
            settings=WorkerSettings(owner=OWNER, **settings),
            queue=queue,
            runner=runner,
            renewal=self.leases,
            wakeup=self.hints,
            observer=self.observer,
            fraction=fraction,
        )
        self.task: asyncio.Task[None] | None = None

    async def stopped(self) -> None:
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.task


@asynccontextmanager
async def working(desk: Desk) -> AsyncIterator[Desk]:
    desk.task = asyncio.create_task(desk.worker.run())
    try:
        yield desk
    finally:
        desk.task.cancel()
        with suppress(asyncio.CancelledError):
            await desk.task


async def settled() -> None:
    """Let everything that can run without a new event run."""
    for _ in range(50):
        await asyncio.sleep(0)
