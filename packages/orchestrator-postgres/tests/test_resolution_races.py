"""Resolutions meet workers, claims, acceptances and one another: in either order one of them gives way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import pytest
from tests.plugins.flow_administration import waits_for_a_lock
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.resolution_desk import CLOSING, WAYS, Desk

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.errors import ExecutionNotResolvable, LeaseLost
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.reconciliation import ResumeEffectAbsent, Way
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.fenced_writes import (
    FENCED_WRITES,
    FencedWrite,
    checkpoint,
    require_reconciliation,
)
from orchestrator_domain.testing.contracts.reconciliation_store_contract import stopped
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, OTHER_WORKER, StoredCases
from orchestrator_domain.testing.examples import CLERK, checkpoint_of, write_of
from orchestrator_domain.usecases.resolve_execution import ExecutionResolved


@pytest.fixture
def desk(harness: PostgresHarness) -> Desk:
    return Desk(harness=harness, cases=StoredCases(harness=harness))


@asynccontextmanager
async def execution_taken(harness: PostgresHarness, execution: Execution) -> AsyncIterator[None]:
    """Hold the execution's row, as a writer does that is about to commit."""
    async with harness.superuser.transaction():
        await harness.superuser.execute(
            b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", (execution.id,)
        )
        yield


async def under_way(desk: Desk) -> ClaimedExecution:
    """Claim an execution and start the write whose answer will be lost."""
    claimed = await desk.cases.claimed()
    await start(desk, claimed)
    return claimed


async def start(desk: Desk, claimed: ClaimedExecution) -> None:
    known = next(iter(claimed.checkpoints), None)
    before = None if known is None else (known.status, known.attempts)
    started = checkpoint_of(claimed.execution.id, effect=Effect.NON_IDEMPOTENT_WRITE)
    write = write_of(started, desk.cases.identifiers, before=before)
    await checkpoint(desk.cases, claimed, claimed.fence, [write])


async def stop(desk: Desk, claimed: ClaimedExecution) -> None:
    started = checkpoint_of(claimed.execution.id, effect=Effect.NON_IDEMPOTENT_WRITE)
    lost = write_of(started.unknown(), desk.cases.identifiers, before=(started.status, started.attempts))
    await require_reconciliation(desk.cases, claimed, claimed.fence, [lost])


async def outcome(act: Awaitable[ExecutionResolved]) -> object:
    try:
        return await act
    except ExecutionNotResolvable:
        return "refused"


@pytest.mark.parametrize("way", WAYS)
async def test_a_resolution_waits_for_the_stop_that_came_first_and_then_resolves_it(
    desk: Desk, way: Way
) -> None:
    claimed = await under_way(desk)
    async with execution_taken(desk.harness, claimed.execution):
        stopping = asyncio.create_task(stop(desk, claimed))
        await waits_for_a_lock(desk.harness)
        resolving = asyncio.create_task(desk.resolve(claimed.execution, way))
        await waits_for_a_lock(desk.harness, how_many=2)
    await stopping
    resolved = await resolving
    assert resolved.execution.status is await desk.status(claimed.execution)
    assert (await desk.kinds(claimed.execution))[-2:] == [
        AuditKind.RECONCILIATION_REQUIRED,
        AuditKind.RECONCILIATION_RESOLVED,
    ]


@pytest.mark.parametrize("way", WAYS)
async def test_a_resolution_that_came_before_the_stop_is_refused_and_the_stop_is_written(
    desk: Desk, way: Way
) -> None:
    claimed = await under_way(desk)
    async with execution_taken(desk.harness, claimed.execution):
        resolving = asyncio.create_task(desk.resolve(claimed.execution, way))
        await waits_for_a_lock(desk.harness)
        stopping = asyncio.create_task(stop(desk, claimed))
        await waits_for_a_lock(desk.harness, how_many=2)
    assert await outcome(resolving) == "refused"
    await stopping
    assert await desk.status(claimed.execution) is ExecutionStatus.RECONCILIATION_REQUIRED
    assert AuditKind.RECONCILIATION_RESOLVED not in await desk.kinds(claimed.execution)


async def test_a_recovery_takes_an_execution_only_once_its_resolution_is_committed(desk: Desk) -> None:
    execution = await stopped(desk.cases)
    held = desk.held()
    resolving = asyncio.create_task(desk.resolve(execution, ResumeEffectAbsent(), work=held))
    await held.told.wait()
    assert not await _claimed(desk)
    held.go_on.set()
    await resolving
    (claimed,) = await _claimed(desk)
    assert claimed.execution.id == execution.id
    assert claimed.fence.token > execution.fencing_token
    assert [one.status for one in claimed.checkpoints] == [CheckpointStatus.PENDING]


async def test_a_resolution_after_the_recovery_of_an_earlier_one_is_refused(desk: Desk) -> None:
    execution = await stopped(desk.cases)
    assert not await _claimed(desk)
    await desk.resolve(execution, ResumeEffectAbsent())
    (claimed,) = await _claimed(desk)
    with pytest.raises(ExecutionNotResolvable):
        await desk.resolve(execution, CLOSING, key="r-2")
    assert await desk.status(execution) is ExecutionStatus.RUNNING
    await checkpoint(desk.cases, claimed, claimed.fence, [])


@pytest.mark.parametrize("way", WAYS)
async def test_a_resolution_of_an_earlier_stop_that_waits_for_the_next_one_is_refused_by_it(
    desk: Desk, way: Way
) -> None:
    seen = await stopped(desk.cases)
    await desk.resolve(seen, ResumeEffectAbsent(), stop=seen.fencing_token)
    (claimed,) = await _claimed(desk)
    await start(desk, claimed)
    async with execution_taken(desk.harness, seen):
        stopping = asyncio.create_task(stop(desk, claimed))
        await waits_for_a_lock(desk.harness)
        late = asyncio.create_task(desk.resolve(seen, way, key="r-2", stop=seen.fencing_token))
        await waits_for_a_lock(desk.harness, how_many=2)
    await stopping
    with pytest.raises(ExecutionNotResolvable) as refusal:
        await late
    assert refusal.value.pointer == "/stop"
    assert await desk.status(seen) is ExecutionStatus.RECONCILIATION_REQUIRED
    assert (await desk.kinds(seen)).count(AuditKind.RECONCILIATION_RESOLVED) == 1
    await desk.resolve(seen, way, key="r-3", stop=claimed.fence.token)


@pytest.mark.parametrize("write", FENCED_WRITES)
@pytest.mark.parametrize("way", WAYS)
async def test_the_worker_that_stopped_writes_nothing_after_a_resolution(
    desk: Desk, way: Way, write: FencedWrite
) -> None:
    claimed = await under_way(desk)
    await stop(desk, claimed)
    resolved = await desk.resolve(claimed.execution, way)
    kinds = await desk.kinds(claimed.execution)
    with pytest.raises(LeaseLost):
        await write(desk.cases, claimed, claimed.fence, [])
    if resolved.execution.status.active:
        await _claimed(desk)
        with pytest.raises(LeaseLost):
            await write(desk.cases, claimed, claimed.fence, [])
    assert await desk.kinds(claimed.execution) == kinds


@pytest.mark.parametrize(("first", "second"), [("r-1", "r-1"), ("r-1", "r-2"), ("r-2", "r-1")])
async def test_of_two_resolutions_the_later_waits_and_finds_what_the_earlier_made(
    desk: Desk, first: str, second: str
) -> None:
    execution = await stopped(desk.cases)
    held = desk.held()
    earlier = asyncio.create_task(desk.resolve(execution, CLOSING, key=first, work=held))
    await held.told.wait()
    later = asyncio.create_task(desk.resolve(execution, CLOSING, key=second))
    await waits_for_a_lock(desk.harness)
    held.go_on.set()
    made = await earlier
    found = await outcome(later)
    if first == second:
        assert isinstance(found, ExecutionResolved)
        assert (found.replayed, found.resolution.id) == (True, made.resolution.id)
    else:
        assert found == "refused"
    assert (await desk.kinds(execution)).count(AuditKind.RECONCILIATION_RESOLVED) == 1


@pytest.mark.parametrize("ways", [(WAYS[0], WAYS[2]), (WAYS[2], WAYS[1]), (WAYS[1], WAYS[0])])
async def test_of_two_resolutions_that_start_at_once_exactly_one_is_made(
    desk: Desk, ways: tuple[Way, Way]
) -> None:
    execution = await stopped(desk.cases)
    start = asyncio.Barrier(2)

    async def resolved(way: Way, key: str) -> object:
        await start.wait()
        return await outcome(desk.resolve(execution, way, key=key))

    found = await asyncio.gather(resolved(ways[0], "r-1"), resolved(ways[1], "r-2"))
    assert found.count("refused") == 1
    assert (await desk.kinds(execution)).count(AuditKind.RECONCILIATION_RESOLVED) == 1


async def test_an_acceptance_that_waited_for_the_closing_is_taken(desk: Desk) -> None:
    execution = await stopped(desk.cases)
    held = desk.held()
    closing = asyncio.create_task(desk.resolve(execution, CLOSING, work=held))
    await held.told.wait()
    accepting = asyncio.create_task(desk.accept(execution))
    await waits_for_a_lock(desk.harness)
    held.go_on.set()
    await closing
    accepted = await accepting
    assert accepted.execution.id != execution.id
    assert (await desk.cases.seen(execution.request_id)).active_execution == accepted.execution.id


async def test_an_acceptance_that_came_before_the_closing_is_refused_and_the_closing_goes_on(
    desk: Desk,
) -> None:
    execution = await stopped(desk.cases)
    hold = desk.held()

    async def looked(work: Transaction) -> ExecutionId | None:
        found = await work.requests.lock_visible(execution.request_id, CLERK)
        assert found is not None
        return found.active_execution

    looking = asyncio.create_task(hold.run(looked))
    await hold.told.wait()
    closing = asyncio.create_task(desk.resolve(execution, CLOSING))
    await waits_for_a_lock(desk.harness)
    hold.go_on.set()
    assert await looking == execution.id
    assert (await closing).execution.status is ExecutionStatus.FAILED


async def _claimed(desk: Desk) -> list[ClaimedExecution]:
    found = await desk.harness.queue().claim(owner=OTHER_WORKER, limit=10, lease_seconds=LEASE_SECONDS)
    return list(found)
