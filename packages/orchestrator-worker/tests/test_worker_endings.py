"""The worker drains when it is told to stop, and ends by itself only when it can't work any more."""

import asyncio
from collections.abc import Callable
from itertools import chain, repeat

import pytest
from tests.plugins.worker_desk import Desk, Queue, Runner, settled, working

from orchestrator_domain.testing.recording_observer import (
    LeaseWasLost,
)


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
