"""The worker claims what it can start, keeps what it runs, and drains when it is told to stop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import chain, repeat
from typing import Any

import pytest

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, StorageUnavailable
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import ExecutionId, FencingToken, LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_domain.testing.examples import draft_flow, execution_of, published, request_of
from orchestrator_domain.testing.recording_observer import (
    ExecutionClaimed,
    LeaseWasLost,
    RecordingObserver,
    WorkerDisturbed,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings, unique_owner

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


async def test_what_waits_at_the_start_is_claimed_and_run_at_once() -> None:
    async with working(Desk(Queue(2), Runner(at_once=True))) as desk:
        await desk.runner.until(lambda: len(desk.runner.ended) == 2)
        assert desk.observer.observations[0] == ExecutionClaimed(execution_id=desk.runner.begun[0], attempt=0)


async def test_no_more_is_claimed_than_free_slots_can_start() -> None:
    async with working(Desk(Queue(9), Runner(), concurrency=4, batch_max=3)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        await settled()
        assert desk.queue.limits == [3, 1]
        assert len(desk.leases.held) == 4


async def test_a_worker_without_free_slots_claims_nothing_whatever_it_is_told() -> None:
    async with working(Desk(Queue(3), Runner(), concurrency=2)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 2)
        for _ in range(5):
            desk.hints.hint()
        await settled()
        assert desk.queue.limits == [2]


async def test_with_a_backlog_it_waits_for_half_of_its_slots() -> None:
    async with working(Desk(Queue(8), Runner(), concurrency=4)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        desk.runner.let_end(1)
        await desk.runner.until(lambda: len(desk.runner.ended) == 1)
        await settled()
        assert desk.queue.limits == [4]
        desk.runner.let_end(1)
        await desk.runner.until(lambda: len(desk.runner.begun) == 6)
        assert desk.queue.limits == [4, 2]


async def test_a_poll_uses_a_single_free_slot_even_with_a_backlog() -> None:
    async with working(Desk(Queue(8), Runner(), concurrency=4)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        desk.runner.let_end(1)
        await desk.runner.until(lambda: len(desk.runner.ended) == 1)
        desk.hints.hint()
        await desk.runner.until(lambda: len(desk.runner.begun) == 5)
        assert desk.queue.limits == [4, 1]


async def test_an_idle_worker_claims_once_per_poll() -> None:
    async with working(Desk(Queue(), Runner(), concurrency=4)) as desk:
        await settled()
        assert desk.queue.limits == [4]
        for polls in (2, 3):
            desk.hints.hint()
            await settled()
            assert len(desk.queue.limits) == polls


async def test_an_event_that_arrives_during_an_empty_claim_is_found_by_its_hint() -> None:
    queue = Queue()
    queue.may_answer.clear()
    async with working(Desk(queue, Runner(at_once=True))) as desk:
        await queue.claimed.wait()
        desk.hints.hint()
        await settled()
        queue.may_answer.set()
        await settled()
        assert len(queue.limits) == 2


async def test_polls_are_jittered_about_their_interval() -> None:
    fractions = iter([0.0, 0.5, 0.999])
    desk = Desk(Queue(), Runner(), fraction=lambda: next(fractions), poll_ms=500)
    async with working(desk):
        for _ in range(2):
            await settled()
            desk.hints.hint()
        await settled()
    assert [round(seconds, 2) for seconds in desk.hints.timeouts] == [0.45, 0.5, 0.55]


async def test_a_lost_lease_cancels_its_run_and_no_other() -> None:
    async with working(Desk(Queue(2), Runner())) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 2)
        lost, kept = desk.runner.begun
        next(tell for fence, tell in desk.leases.held.items() if fence.execution_id == lost)()
        await desk.runner.until(lambda: desk.runner.cancelled == [lost])
        await settled()
        assert [fence.execution_id for fence in desk.leases.held] == [kept]
        assert LeaseWasLost(execution_id=lost) in desk.observer.observations


@pytest.mark.parametrize("ending", [LeaseLost("lost"), CheckpointMoved("moved")])
async def test_a_run_that_finds_its_lease_lost_frees_its_slot(ending: Exception) -> None:
    async with working(Desk(Queue(3), Runner(ending, at_once=True), concurrency=1)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 3)
        await settled()
        assert LeaseWasLost(execution_id=desk.runner.begun[2]) in desk.observer.observations
        assert desk.leases.held == {}


@pytest.mark.parametrize(
    ("ending", "code", "kind"),
    [
        (
            StorageUnavailable("down"),
            "STORAGE_UNAVAILABLE",
            "orchestrator_domain.errors.StorageUnavailable",
        ),
        (RuntimeError("a-secret-value"), "INTERNAL_ERROR", "builtins.RuntimeError"),
    ],
)
async def test_a_run_that_breaks_is_told_and_takes_nothing_with_it(
    ending: Exception, code: str, kind: str
) -> None:
    async with working(Desk(Queue(3), Runner(ending, at_once=True), concurrency=1)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 3)
        await settled()
        told = [item for item in desk.observer.observations if isinstance(item, WorkerDisturbed)]
        assert told == [
            WorkerDisturbed(execution_id=execution, code=code, kind=kind) for execution in desk.runner.begun
        ]
        assert "a-secret-value" not in str(desk.observer.observations)
        assert desk.leases.held == {}


@pytest.mark.parametrize("failure", [StorageUnavailable("down"), RuntimeError("broken")])
async def test_claims_go_on_after_a_store_that_did_not_answer(failure: Exception) -> None:
    queue = Queue(1)
    queue.failures = [failure, failure]
    async with working(Desk(queue, Runner(at_once=True), poll_ms=10)) as desk:
        await desk.runner.until(lambda: len(desk.runner.ended) == 1)
        told = [item for item in desk.observer.observations if isinstance(item, WorkerDisturbed)]
        assert len(told) == 2


async def test_polls_go_on_after_a_wakeup_that_broke_its_promise() -> None:
    desk = Desk(Queue(), Runner(at_once=True), poll_ms=10)
    desk.hints.failures = [RuntimeError("broken")]
    async with working(desk):
        await settled()
        desk.queue.waiting = [claimable()]
        desk.hints.hint()
        await desk.runner.until(lambda: len(desk.runner.ended) == 1)


async def test_a_stop_claims_nothing_more_and_keeps_leases_until_every_run_has_ended() -> None:
    async with working(Desk(Queue(3), Runner(), concurrency=2)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 2)
        desk.worker.stop()
        await settled()
        assert len(desk.leases.held) == 2
        assert desk.leases.log == ["started"]
        desk.runner.let_end(2)
        await desk.stopped()
        assert (desk.queue.limits, len(desk.runner.ended)) == ([2], 2)
        assert desk.leases.log == ["started", "stopped holding 0"]
        assert desk.runner.cancelled == []


async def test_what_is_left_when_the_drain_is_over_is_cancelled_before_renewals_stop() -> None:
    async with working(Desk(Queue(2), Runner(), drain_seconds=0.05)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 2)
        desk.worker.stop()
        await desk.stopped()
        assert set(desk.runner.cancelled) == set(desk.runner.begun)
        assert desk.leases.log == ["started", "stopped holding 0"]
        assert not [item for item in desk.observer.observations if isinstance(item, LeaseWasLost)]


async def test_a_second_stop_means_now() -> None:
    async with working(Desk(Queue(2), Runner(), drain_seconds=3600)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 2)
        desk.worker.stop()
        desk.worker.stop()
        await desk.stopped()
        assert set(desk.runner.cancelled) == set(desk.runner.begun)


async def test_a_run_that_clings_to_its_slot_does_not_keep_the_worker() -> None:
    desk = Desk(Queue(1), Runner(), drain_seconds=0, cancel_seconds=0.05)
    desk.runner.clings = True
    async with working(desk):
        await desk.runner.until(lambda: len(desk.runner.begun) == 1)
        desk.worker.stop()
        await desk.stopped()
        assert desk.leases.log == ["started", "stopped holding 1"]
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()


async def test_what_a_claim_on_its_way_brings_is_run_before_the_worker_ends() -> None:
    queue = Queue(1)
    queue.may_answer.clear()
    async with working(Desk(queue, Runner(at_once=True))) as desk:
        await queue.claimed.wait()
        desk.worker.stop()
        await settled()
        queue.may_answer.set()
        await desk.stopped()
        assert len(desk.runner.ended) == 1


async def test_a_claim_that_never_returns_does_not_keep_the_worker() -> None:
    queue = Queue(1)
    queue.may_answer.clear()
    async with working(Desk(queue, Runner(), drain_seconds=0.05)) as desk:
        await queue.claimed.wait()
        desk.worker.stop()
        await desk.stopped()
        assert desk.leases.log == ["started", "stopped holding 0"]


async def test_a_worker_told_to_stop_before_it_runs_claims_nothing() -> None:
    desk = Desk(Queue(1), Runner())
    desk.worker.stop()
    async with working(desk):
        await desk.stopped()
    assert desk.queue.limits == []


def _broken() -> float:
    raise ArithmeticError("broken")


def _half() -> float:
    return 0.5


def _first(first: Callable[[], float], *, then: Callable[[], float]) -> Callable[[], float]:
    fractions = chain([first], repeat(then))

    def fraction() -> float:
        return next(fractions)()

    return fraction


async def test_a_worker_that_can_not_poll_any_more_drains_and_ends_with_the_reason() -> None:
    desk = Desk(Queue(1), Runner(), fraction=_first(_half, then=_broken))
    desk.task = asyncio.create_task(desk.worker.run())
    await desk.runner.until(lambda: len(desk.runner.begun) == 1)
    desk.hints.hint()
    await settled()
    desk.runner.let_end()
    with pytest.raises(ArithmeticError):
        await desk.stopped()
    assert desk.runner.ended == desk.runner.begun
    assert desk.leases.log == ["started", "stopped holding 0"]


async def test_a_worker_that_can_not_claim_any_more_ends_with_the_reason() -> None:
    queue = Queue()
    queue.failures = [RuntimeError("first")]
    desk = Desk(queue, Runner(), fraction=_first(_broken, then=_half))
    desk.task = asyncio.create_task(desk.worker.run())
    with pytest.raises(ArithmeticError):
        await desk.stopped()
    assert len(queue.limits) == 1
    assert len(desk.hints.timeouts) == 1


async def test_a_cancelled_worker_lets_go_of_everything() -> None:
    async with working(Desk(Queue(2), Runner())) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 2)
        assert desk.task is not None
        desk.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await desk.task
        assert set(desk.runner.cancelled) == set(desk.runner.begun)
        assert desk.leases.log == ["started", "stopped holding 0"]


@pytest.mark.parametrize(
    "changes",
    [
        {"renew_seconds": 30},
        {"renew_seconds": 0},
        {"lease_seconds": 0},
        {"concurrency": 0},
        {"batch_max": 0},
        {"poll_ms": 0},
        {"drain_seconds": -1},
        {"owner": ""},
    ],
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"renew_seconds|must be|should be|Length"):
        WorkerSettings(**{"owner": OWNER, **changes})


def test_the_defaults_are_those_of_the_worker_document() -> None:
    settings = WorkerSettings(owner=OWNER)
    assert (settings.concurrency, settings.batch_max, settings.poll_ms) == (10, 10, 500)
    assert (settings.lease_seconds, settings.renew_seconds, settings.drain_seconds) == (60, 15, 20)


def test_two_starts_of_one_process_have_different_names() -> None:
    first = unique_owner(host="host", process_id=1, salt="a")
    assert first != unique_owner(host="host", process_id=1, salt="b")
