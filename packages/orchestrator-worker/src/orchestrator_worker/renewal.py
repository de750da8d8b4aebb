"""Leases kept alive by a thread of their own, whatever the runs do to their event loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from threading import Lock, Thread
from typing import Protocol

from attrs import frozen

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.ports.execution_queue import Renewed
from orchestrator_domain.ports.observer import Observer
from orchestrator_worker.fault_origin import code_of, kind_of, origin_of

# Shares of the time between two renewals. After one that hangs there is still time for another, on a connection made
# anew, before leases of twice that time run out.
_STEP_SHARE = 0.25
_PAUSE_SHARE = 0.1


class LeaseRenewer(Protocol):
    """Renew as `ExecutionQueue.renew` promises; an execution queue is one."""

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed: ...


type OpenRenewer = Callable[[], AbstractAsyncContextManager[LeaseRenewer]]


@frozen(kw_only=True)
class _Held:
    fence: Fence
    loop: asyncio.AbstractEventLoop
    lost: Callable[[], None]


class LeaseRenewal:
    """Renew every held lease in one call each `renew_seconds`, and tell each run whose lease is gone.

    `open_renewer` is called in the renewal's own thread and event loop, so that what it opens (a connection of its
    own) belongs there; after a failure it is closed and opened anew. Nothing is asked while nothing is held. The
    observer is told in the event loop that called `start`.
    """

    def __init__(
        self,
        *,
        open_renewer: OpenRenewer,
        lease_seconds: float,
        renew_seconds: float,
        observer: Observer,
        fraction: Callable[[], float],
    ) -> None:
        self._open_renewer = open_renewer
        self._lease_seconds = lease_seconds
        self._renew_seconds = renew_seconds
        self._observer = observer
        self._fraction = fraction
        self._held: dict[ExecutionId, _Held] = {}
        self._held_lock = Lock()
        self._thread: Thread | None = None
        self._caller: asyncio.AbstractEventLoop | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None

    async def start(self) -> None:
        """Start the thread and return once it runs."""
        self._caller, running = asyncio.get_running_loop(), asyncio.Event()
        announce = partial(_tell, self._caller, running.set)
        # A daemon, so that a store that never answers can't keep the process from ending.
        self._thread = Thread(
            target=lambda: asyncio.run(self._renew_until_stopped(announce)),
            name="lease-renewal",
            daemon=True,
        )
        self._thread.start()
        await running.wait()

    async def stop(self, *, timeout_seconds: float = 5.0) -> None:
        """Renew nothing more; wait at most `timeout_seconds` for the thread to close what it opened."""
        if self._loop is None or self._stopping is None or self._thread is None:
            return
        _tell(self._loop, self._stopping.set)
        await asyncio.to_thread(self._thread.join, timeout_seconds)

    def hold(self, fence: Fence, *, lost: Callable[[], None]) -> None:
        """Renew this lease from now on; `lost` is called in the caller's event loop, at most once, if it is gone.

        A fence with a higher token for the same execution shows that the one before is gone already.
        """
        held = _Held(fence=fence, loop=asyncio.get_running_loop(), lost=lost)
        with self._held_lock:
            overtaken = self._held.get(fence.execution_id)
            self._held[fence.execution_id] = held
        if overtaken is not None:
            _tell(overtaken.loop, overtaken.lost)

    def release(self, fence: Fence) -> None:
        """Renew this lease no more; its run has ended."""
        self._taken_out(fence)

    async def _renew_until_stopped(self, running: Callable[[], None]) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        running()
        while not self._stopping.is_set():
            opened = AsyncExitStack()
            try:
                await self._renew_with(await self._opened(opened))
            except Exception as error:  # noqa: BLE001 - a renewal that dies would lose every lease at once
                self._disturbed(error)
            await self._closed(opened)
            await self._pause(self._renew_seconds * _PAUSE_SHARE * (0.5 + self._fraction()))

    async def _opened(self, stack: AsyncExitStack) -> LeaseRenewer:
        async with self._in_time():
            return await stack.enter_async_context(self._open_renewer())

    async def _closed(self, stack: AsyncExitStack) -> None:
        # What hung on renewing may hang on closing too, and must not keep the next try waiting.
        try:
            async with self._in_time():
                await stack.aclose()
        except Exception as error:  # noqa: BLE001 - it is given up anyway
            self._disturbed(error)

    async def _renew_with(self, renewer: LeaseRenewer) -> None:
        stopping = False
        while not stopping:
            with self._held_lock:
                fences = tuple(held.fence for held in self._held.values())
            if fences:
                self._tell_lost(await self._lost(renewer, fences))
            stopping = await self._pause(self._renew_seconds)

    async def _lost(self, renewer: LeaseRenewer, fences: tuple[Fence, ...]) -> tuple[Fence, ...]:
        async with self._in_time():
            renewed = await renewer.renew(fences=fences, lease_seconds=self._lease_seconds)
        return tuple(fence for fence in fences if fence.execution_id not in renewed.not_lost)

    def _tell_lost(self, lost: tuple[Fence, ...]) -> None:
        for fence in lost:
            held = self._taken_out(fence)
            # Nothing is held any more where its run has ended meanwhile.
            if held is not None:
                _tell(held.loop, held.lost)

    def _taken_out(self, fence: Fence) -> _Held | None:
        with self._held_lock:
            held = self._held.get(fence.execution_id)
            return self._held.pop(fence.execution_id) if held is not None and held.fence == fence else None

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._renew_seconds * _STEP_SHARE):
                yield
        except TimeoutError:
            raise StorageUnavailable("The store didn't answer a renewal of leases in time.") from None

    def _disturbed(self, error: Exception) -> None:
        assert self._caller is not None, "the renewal has been started"
        told = partial(
            self._observer.lease_renewal_failed,
            code=code_of(error),
            kind=kind_of(error),
            origin=origin_of(error),
        )
        _tell(self._caller, told)

    async def _pause(self, seconds: float) -> bool:
        """Wait, and return whether it is time to stop."""
        assert self._stopping is not None, "only the renewal's own loop pauses"
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return False
        return True


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:
        # The loop is closed: whoever would have been told has ended.
        return
