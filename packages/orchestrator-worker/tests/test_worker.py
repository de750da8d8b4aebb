"""The worker claims what it can start, and keeps what it runs."""

from typing import Any

import pytest
from tests.plugins.worker_desk import OWNER, Desk, Queue, Runner, claimable, settled, working

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, StorageUnavailable
from orchestrator_domain.testing.recording_observer import (
    ExecutionClaimed,
    LeaseWasLost,
    WorkerDisturbed,
)
from orchestrator_worker.worker_settings import WorkerSettings, unique_owner


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


async def test_slots_that_are_freed_in_one_breath_are_filled_by_one_claim() -> None:
    async with working(Desk(Queue(8), Runner(), concurrency=4, gather_seconds=1.0)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        desk.runner.let_end(2)
        await desk.runner.until(lambda: len(desk.runner.ended) == 2)
        await settled()
        assert desk.queue.limits == [4]
        desk.runner.let_end(2)
        await desk.runner.until(lambda: len(desk.runner.begun) == 8)
        assert desk.queue.limits == [4, 4]


async def test_a_claim_waits_for_no_more_slots_than_it_could_fill() -> None:
    desk = Desk(Queue(8), Runner(), concurrency=4, batch_max=2, gather_seconds=1.0)
    async with working(desk):
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        desk.runner.let_end(2)
        await desk.runner.until(lambda: len(desk.runner.ended) == 2)
        await settled()
        assert desk.queue.limits == [2, 2, 2]


async def test_a_claim_waits_for_slots_that_are_not_freed_only_a_moment() -> None:
    async with working(Desk(Queue(8), Runner(), concurrency=4, gather_seconds=0.01)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        desk.runner.let_end(2)
        await desk.runner.until(lambda: len(desk.runner.begun) == 6)
        assert desk.queue.limits == [4, 2]


async def test_a_worker_that_is_stopped_while_it_gathers_slots_claims_nothing_more() -> None:
    async with working(Desk(Queue(8), Runner(), concurrency=4, gather_seconds=1.0)) as desk:
        await desk.runner.until(lambda: len(desk.runner.begun) == 4)
        desk.runner.let_end(2)
        await desk.runner.until(lambda: len(desk.runner.ended) == 2)
        await settled()
        desk.worker.stop()
        desk.runner.let_end(2)
        await desk.stopped()
        assert desk.queue.limits == [4]


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
