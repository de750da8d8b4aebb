"""Leases are renewed whatever the event loop of the runs is doing, and a lost one is told to its run."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from uuid import UUID

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ExecutionId, FencingToken, LeaseOwner, RequestId
from orchestrator_domain.ports.execution_queue import Renewed
from orchestrator_domain.testing.recording_observer import LeaseRenewalFailed, RecordingObserver
from orchestrator_worker.renewal import LeaseRenewal

PATIENCE_SECONDS = 10.0


def fence(number: int, *, token: int = 1) -> Fence:
    return Fence(
        execution_id=ExecutionId(UUID(int=number)),
        request_id=RequestId(UUID(int=1000 + number)),
        owner=LeaseOwner("host:1:a"),
        token=FencingToken(token),
    )


class Store:
    """Renew what it still knows; remember every call, the thread it came from and how often it was opened."""

    def __init__(self) -> None:
        self.gone: set[ExecutionId] = set()
        self.given_back: set[ExecutionId] = set()
        self.failures: list[Exception] = []
        self.hangs = 0
        self.hangs_on_closing = 0
        self.calls: list[frozenset[Fence]] = []
        self.threads: set[str] = set()
        self.opened = 0
        self.closed = 0
        self._condition = threading.Condition()

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Store"]:
        self.opened += 1
        try:
            yield self
        finally:
            if self.hangs_on_closing:
                self.hangs_on_closing -= 1
                await asyncio.Event().wait()
            self.closed += 1

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        assert lease_seconds == 60
        self.threads.add(threading.current_thread().name)
        if self.hangs:
            self.hangs -= 1
            await asyncio.Event().wait()
        if self.failures:
            raise self.failures.pop()
        with self._condition:
            self.calls.append(frozenset(fences))
            self._condition.notify_all()
        asked = frozenset(held.execution_id for held in fences)
        return Renewed(held=asked - self.gone - self.given_back, given_back=asked & self.given_back)

    def wait_for_calls(self, count: int) -> bool:
        """Block the calling thread until so many renewals came through."""
        with self._condition:
            return self._condition.wait_for(lambda: len(self.calls) >= count, timeout=PATIENCE_SECONDS)


class Losses:
    """Remember which runs were told that their lease is gone."""

    def __init__(self) -> None:
        self.told: list[Fence] = []
        self.any = asyncio.Event()

    def of(self, lost: Fence) -> Callable[[], None]:
        def tell() -> None:
            assert threading.current_thread() is threading.main_thread()
            self.told.append(lost)
            self.any.set()

        return tell


@asynccontextmanager
async def renewing(store: Store, observer: RecordingObserver | None = None) -> AsyncIterator[LeaseRenewal]:
    renewal = LeaseRenewal(
        open_renewer=store.open,
        lease_seconds=60,
        renew_seconds=0.02,
        observer=observer or RecordingObserver(),
        fraction=lambda: 0.5,
    )
    await renewal.start()
    try:
        yield renewal
    finally:
        await renewal.stop()


async def called(store: Store, count: int) -> bool:
    return await asyncio.to_thread(store.wait_for_calls, count)


async def test_all_held_leases_are_renewed_in_one_call() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        for number in (1, 2, 3):
            renewal.hold(fence(number), lost=losses.of(fence(number)))
        seen = len(store.calls)
        assert await called(store, seen + 2)
        assert store.calls[-1] == {fence(1), fence(2), fence(3)}
    assert losses.told == []


async def test_nothing_is_asked_while_nothing_is_held() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        assert await called(store, 1)
        renewal.release(fence(1))
        # A call that had begun before the release may still come in; none after it.
        store.calls.clear()
        renewal.hold(fence(2), lost=losses.of(fence(2)))
        assert await called(store, 2)
        assert store.calls[-1] == {fence(2)}
    assert all(store.calls)


async def test_leases_are_renewed_while_the_event_loop_is_blocked() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        seen = len(store.calls)
        # Blocks this very event loop, as a handler that never awaits would.
        assert store.wait_for_calls(seen + 3)
    assert store.threads == {"lease-renewal"}
    assert losses.told == []


async def test_a_run_whose_lease_is_gone_is_told_once_and_the_others_go_on() -> None:
    store, losses = Store(), Losses()
    store.gone = {fence(1).execution_id}
    async with renewing(store) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        renewal.hold(fence(2), lost=losses.of(fence(2)))
        await asyncio.wait_for(losses.any.wait(), PATIENCE_SECONDS)
        seen = len(store.calls)
        assert await called(store, seen + 2)
        assert store.calls[-1] == {fence(2)}
    assert losses.told == [fence(1)]


async def test_a_run_that_has_given_its_execution_back_unheard_is_not_told_that_it_lost_it() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        renewal.hold(fence(2), lost=losses.of(fence(2)))
        # Its ending is committed; however late the answer comes, the run releases its lease only then.
        store.given_back = {fence(1).execution_id}
        assert await called(store, len(store.calls) + 3)
    assert losses.told == []


async def test_a_released_lease_is_never_told_to_be_lost() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        renewal.release(fence(1))
        store.gone = {fence(1).execution_id}
        renewal.hold(fence(2), lost=losses.of(fence(2)))
        assert await called(store, 2)
    assert losses.told == []


async def test_a_higher_token_for_the_same_execution_shows_that_the_older_lease_is_gone() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        renewal.hold(fence(1, token=1), lost=losses.of(fence(1, token=1)))
        renewal.hold(fence(1, token=2), lost=losses.of(fence(1, token=2)))
        await asyncio.wait_for(losses.any.wait(), PATIENCE_SECONDS)
        renewal.release(fence(1, token=1))
        seen = len(store.calls)
        assert await called(store, seen + 2)
        assert store.calls[-1] == {fence(1, token=2)}
    assert losses.told == [fence(1, token=1)]


async def test_a_failing_store_is_opened_anew_and_costs_no_lease() -> None:
    store, losses, observer = Store(), Losses(), RecordingObserver()
    store.failures = [StorageUnavailable("down"), RuntimeError("a-secret-value")]
    async with renewing(store, observer) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        assert await called(store, 1)
    assert losses.told == []
    assert (store.opened, store.closed) == (3, 3)
    assert observer.observations == [
        LeaseRenewalFailed(code="INTERNAL_ERROR", kind="builtins.RuntimeError"),
        LeaseRenewalFailed(
            code="STORAGE_UNAVAILABLE",
            kind="orchestrator_domain.errors.StorageUnavailable",
        ),
    ]


async def test_a_hanging_store_is_given_up_and_opened_anew() -> None:
    store, losses, observer = Store(), Losses(), RecordingObserver()
    store.hangs, store.hangs_on_closing = 2, 1
    async with renewing(store, observer) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        assert await called(store, 1)
    assert (losses.told, store.opened) == ([], 3)
    unavailable = LeaseRenewalFailed(
        code="STORAGE_UNAVAILABLE", kind="orchestrator_domain.errors.StorageUnavailable"
    )
    assert set(observer.observations) == {unavailable}


async def test_nothing_is_renewed_after_the_stop() -> None:
    store, losses = Store(), Losses()
    async with renewing(store) as renewal:
        renewal.hold(fence(1), lost=losses.of(fence(1)))
        assert await called(store, 1)
    assert store.closed == store.opened
    assert not [thread for thread in threading.enumerate() if thread.name == "lease-renewal"]


async def test_stopping_what_was_never_started_does_nothing() -> None:
    store = Store()
    renewal = LeaseRenewal(
        open_renewer=store.open,
        lease_seconds=60,
        renew_seconds=15,
        observer=RecordingObserver(),
        fraction=lambda: 0.5,
    )
    await renewal.stop()
    assert store.opened == 0


async def test_a_stop_does_not_wait_for_the_next_renewal() -> None:
    store = Store()
    renewal = LeaseRenewal(
        open_renewer=store.open,
        lease_seconds=60,
        renew_seconds=25,
        observer=RecordingObserver(),
        fraction=lambda: 0.5,
    )
    await renewal.start()
    await renewal.stop(timeout_seconds=PATIENCE_SECONDS)
    assert not [thread for thread in threading.enumerate() if thread.name == "lease-renewal"]
