"""A second batch leaves while the first is under way, once it is worth a transaction of its own."""

import asyncio
from collections.abc import Sequence

from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.fenced_writes import fail
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import checkpoint_of, write_of

_WORTH_A_SECOND = 8
_LOCK = b"LOCK TABLE orchestrator.action_execution IN EXCLUSIVE MODE"


async def _claimed(cases: StoredCases, count: int) -> Sequence[ClaimedExecution]:
    for _ in range(count):
        await cases.accepted()
    return await cases.harness.queue().claim(owner=WORKER, limit=count, lease_seconds=LEASE_SECONDS)


async def _begun_behind_the_lock(
    cases: StoredCases, harness: PostgresHarness, claimed: ClaimedExecution
) -> asyncio.Task[None]:
    """Begin a batch that waits for the lock, and return once the server has come to it."""
    start = write_of(checkpoint_of(claimed.execution.id), cases.identifiers)
    under_way = asyncio.create_task(harness.queue().checkpoint(claimed.fence, [start]))
    await harness.sessions_wait()
    return under_way


def _endings(cases: StoredCases, claimed: Sequence[ClaimedExecution]) -> list[asyncio.Task[None]]:
    """End each without a word of an action, for which nobody waits."""
    return [asyncio.create_task(fail(cases, one, one.fence, [])) for one in claimed]


async def _statuses(cases: StoredCases, claimed: Sequence[ClaimedExecution]) -> set[ExecutionStatus]:
    return {(await cases.seen_execution(one.execution.id)).status for one in claimed}


async def test_many_writes_don_t_wait_for_the_batch_that_is_under_way(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    slow, *others = await _claimed(cases, 1 + _WORTH_A_SECOND)
    async with harness.superuser.transaction():
        await harness.superuser.execute(_LOCK)
        under_way = await _begun_behind_the_lock(cases, harness, slow)
        async with asyncio.timeout(60):
            await asyncio.gather(*_endings(cases, others))
        assert not under_way.done()
        assert await _statuses(cases, others) == {ExecutionStatus.FAILED}
    await under_way


async def test_a_few_writes_wait_for_the_batch_that_is_under_way(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    slow, *others = await _claimed(cases, _WORTH_A_SECOND)
    async with harness.superuser.transaction():
        await harness.superuser.execute(_LOCK)
        under_way = await _begun_behind_the_lock(cases, harness, slow)
        endings = _endings(cases, others)
        # Whoever else writes has been sent, written and answered meanwhile.
        assert await _statuses(cases, [slow]) == {ExecutionStatus.RUNNING}
        assert not any(ending.done() for ending in endings)
        assert await _statuses(cases, others) == {ExecutionStatus.RUNNING}
    await asyncio.gather(under_way, *endings)
    assert await _statuses(cases, others) == {ExecutionStatus.FAILED}


async def test_no_third_batch_leaves_before_one_of_two_has_returned(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, *second = await _claimed(cases, 1 + _WORTH_A_SECOND)
    third = await _claimed(cases, _WORTH_A_SECOND)
    async with harness.superuser.transaction():
        await harness.superuser.execute(_LOCK)
        under_way = await _begun_behind_the_lock(cases, harness, first)
        starts = [
            asyncio.create_task(
                harness.queue().checkpoint(
                    one.fence, [write_of(checkpoint_of(one.execution.id), cases.identifiers)]
                )
            )
            for one in second
        ]
        await harness.sessions_wait(2)
        endings = _endings(cases, third)
        assert await _statuses(cases, third) == {ExecutionStatus.RUNNING}
        assert not any(ending.done() for ending in endings)
    await asyncio.gather(under_way, *starts, *endings)
    assert await _statuses(cases, third) == {ExecutionStatus.FAILED}


async def test_what_comes_while_both_batches_are_under_way_is_sent_when_they_have_returned(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await _claimed(cases, 40)
    ended: list[asyncio.Task[None]] = []
    for begun in range(0, 40, 5):
        ended += _endings(cases, claimed[begun : begun + 5])
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        await asyncio.gather(*ended)
    assert await _statuses(cases, claimed) == {ExecutionStatus.FAILED}
