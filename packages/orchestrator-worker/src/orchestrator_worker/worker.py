"""The durable worker: wait, claim what free slots can start, run it, and in the end drain."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.observer import Observer
from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_worker.fault_origin import code_of, kind_of, origin_of
from orchestrator_worker.slots import LeaseHolder, Runner, Slots
from orchestrator_worker.worker_settings import WorkerSettings

_JITTER_SHARE = 0.1
_PAUSE_MAX_SECONDS = 15.0


class Claims(Protocol):
    """Claim as `ExecutionQueue.claim` promises; an execution queue is one."""

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]: ...


class Renewal(LeaseHolder, Protocol):
    """Keep leases alive between `start` and `stop`."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class Worker:
    """Work until told to stop.

    Polls, earlier if a hint comes, and claims no more than its free slots can start at once. While there is a backlog
    it waits for half of its slots, or for the next poll, rather than claiming one by one; while slots are just being
    freed, a moment for the rest of them. Nothing that goes wrong ends it: a store that doesn't answer is asked again
    after growing pauses.
    """

    def __init__(
        self,
        *,
        settings: WorkerSettings,
        queue: Claims,
        runner: Runner,
        renewal: Renewal,
        wakeup: Wakeup,
        observer: Observer,
        fraction: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._queue = queue
        self._renewal = renewal
        self._wakeup = wakeup
        self._observer = observer
        self._fraction = fraction
        self._changed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._now = asyncio.Event()
        self._due = True
        self._backlog = False
        self._freed_at: float | None = None
        self._slots = Slots(
            count=settings.concurrency,
            runner=runner,
            leases=renewal,
            observer=observer,
            freed=self._slot_freed,
        )

    async def run(self) -> None:
        """Work until `stop` is called and what runs has been drained. Cancelling it stops at once.

        Raises, after draining, what ended claiming or polling in spite of all: a worker that does neither is none.
        """
        await self._renewal.start()
        claiming = asyncio.create_task(self._claim_until_stopped(), name="claiming")
        polling = asyncio.create_task(self._poll_until_cancelled(), name="polling")
        try:
            await self._until_one_ends(claiming, polling)
            await self._drain(claiming)
        finally:
            await self._let_go(claiming, polling)
        for task in (claiming, polling):
            if not task.cancelled():
                task.result()

    @property
    def slots_in_use(self) -> int:
        """Return how many executions run now; it is safe to ask from any thread."""
        return self._slots.in_use

    def stop(self) -> None:
        """Claim nothing more and drain; called a second time, cancel what is left now."""
        if self._stopping.is_set():
            self._now.set()
        self._stopping.set()
        self._changed.set()

    async def _until_one_ends(self, *own: asyncio.Task[None]) -> None:
        told = asyncio.create_task(self._stopping.wait(), name="waiting for a stop")
        try:
            await asyncio.wait({told, *own}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancelled(told)
        if not self._stopping.is_set():
            self.stop()

    async def _claim_until_stopped(self) -> None:
        failures = 0
        while await self._worth_claiming():
            try:
                await self._claim_and_start()
                failures = 0
            except Exception as error:  # noqa: BLE001 - a worker that dies would let every event wait
                self._disturbed(error)
                failures += 1
                await self._pause_after(failures)

    async def _worth_claiming(self) -> bool:
        """Wait for a reason to claim; return False when it is time to stop."""
        while not self._stopping.is_set():
            half = (self._settings.concurrency + 1) // 2
            if self._slots.free >= (1 if self._due else half) and (self._due or self._backlog):
                await self._gathered()
                return not self._stopping.is_set()
            self._changed.clear()
            await self._changed.wait()
        return False

    async def _gathered(self) -> None:
        """Wait a moment for more slots if one has just become free.

        Runs that were started together end together, and their ends are written in one batch or in two. A claim between
        the two would leave the slots of the second empty until half of all are free again, and have them start apart.
        """
        if self._freed_at is None:
            return
        until, self._freed_at = self._freed_at + self._settings.gather_seconds, None
        if asyncio.get_running_loop().time() >= until:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                while self._more_would_be_claimed() and not self._stopping.is_set():
                    self._changed.clear()
                    await self._changed.wait()

    def _more_would_be_claimed(self) -> bool:
        """Tell whether another free slot would let the next claim bring more."""
        return self._slots.free < min(self._settings.concurrency, self._settings.batch_max)

    def _slot_freed(self) -> None:
        self._freed_at = asyncio.get_running_loop().time()
        self._changed.set()

    async def _claim_and_start(self) -> None:
        settings = self._settings
        limit = min(self._slots.free, settings.batch_max)
        self._due = False
        claimed = await self._queue.claim(
            owner=settings.owner, limit=limit, lease_seconds=settings.lease_seconds
        )
        for execution in claimed:
            self._slots.start(execution)
        self._backlog = len(claimed) >= limit
        # Slots that are still free now are so because of the batch's bound, and there may be more for them.
        self._due = self._due or (self._backlog and self._slots.free > 0)

    async def _pause_after(self, failures: int) -> None:
        seconds = min(self._settings.poll_seconds * 2 ** min(failures, 10), _PAUSE_MAX_SECONDS)
        await _first_of(self._stopping, seconds * (0.5 + self._fraction() / 2))
        self._due = True

    async def _poll_until_cancelled(self) -> None:
        while True:
            jitter = 1 + _JITTER_SHARE * (2 * self._fraction() - 1)
            try:
                await self._wakeup.wait(timeout_seconds=self._settings.poll_seconds * jitter)
            except Exception as error:  # noqa: BLE001 - hints may be lost, polls may not
                self._disturbed(error)
                await asyncio.sleep(self._settings.poll_seconds)
            self._due = True
            self._changed.set()

    async def _drain(self, claiming: asyncio.Task[None]) -> None:
        drained = asyncio.create_task(self._drained(claiming), name="draining")
        now = asyncio.create_task(self._now.wait(), name="waiting for a second stop")
        try:
            await asyncio.wait(
                {drained, now}, timeout=self._settings.drain_seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            await _cancelled(drained, now)

    async def _drained(self, claiming: asyncio.Task[None]) -> None:
        # A claim on its way is waited for: what it brings is ours, and would else lie idle until its lease runs out.
        await asyncio.wait({claiming})
        await self._slots.ended(within_seconds=self._settings.drain_seconds)

    async def _let_go(self, *own: asyncio.Task[None]) -> None:
        await _cancelled(*own)
        self._slots.cancel()
        await self._slots.ended(within_seconds=self._settings.cancel_seconds)
        await self._renewal.stop()

    def _disturbed(self, error: Exception) -> None:
        self._observer.worker_disturbed(
            execution_id=None, code=code_of(error), kind=kind_of(error), origin=origin_of(error)
        )


async def _first_of(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


async def _cancelled(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
