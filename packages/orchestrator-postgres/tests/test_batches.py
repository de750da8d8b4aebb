"""Writes of concurrent runs share a transaction, and each has its own fence, answer and fault all the same."""

import asyncio
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from attrs import evolve
from psycopg.pq import TransactionStatus
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.protocol_trace import round_trips, traced

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import (
    CheckpointMoved,
    LeaseLost,
    OrchestratorError,
    RequestMoved,
    StorageUnavailable,
)
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import Sha256Hex
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.fenced_writes import LENT, complete, fail, retry_later
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.engine import ConnectionSettings, connect
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.fault_translation import StorageRefused
from orchestrator_postgres.fenced_write import Ending, FencedWrite
from orchestrator_postgres.write_batch import Settled, carry_out_together

PATIENCE_SECONDS = 60.0


async def _claimed(cases: StoredCases, count: int) -> Sequence[ClaimedExecution]:
    for _ in range(count):
        await cases.accepted()
    claimed = await cases.harness.queue().claim(owner=WORKER, limit=count, lease_seconds=LEASE_SECONDS)
    assert len(claimed) == count
    return claimed


def _start(cases: StoredCases, claimed: ClaimedExecution) -> Coroutine[Any, Any, None]:
    """Write the start of the execution's action."""
    start = write_of(checkpoint_of(claimed.execution.id), cases.identifiers)
    return cases.harness.queue().checkpoint(claimed.fence, [start])


async def _answers(*writes: Coroutine[Any, Any, None]) -> list[type[BaseException] | None]:
    """Begin all writes at one moment and return the kind of error that each of them ended with."""
    answers = await asyncio.gather(*writes, return_exceptions=True)
    return [None if answer is None else type(answer) for answer in answers]


async def _started(harness: PostgresHarness, claimed: ClaimedExecution) -> bool:
    return [one.status for one in await harness.checkpoints(claimed.execution.id)] == [
        CheckpointStatus.RUNNING
    ]


async def _transactions(harness: PostgresHarness) -> int:
    """Count the transactions that have written the stored checkpoints."""
    (row,) = await harness.rows(
        b"SELECT count(DISTINCT xmin::text) AS transactions FROM orchestrator.action_execution"
    )
    return int(row["transactions"])


async def _status(cases: StoredCases, claimed: ClaimedExecution) -> ExecutionStatus:
    return (await cases.seen_execution(claimed.execution.id)).status


async def test_writes_that_are_ready_at_one_moment_share_a_transaction(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    claimed = await _claimed(cases, 5)
    assert await _answers(*(_start(cases, one) for one in claimed)) == [None] * 5
    assert await _transactions(harness) == 1


async def test_a_batch_that_nothing_is_in_the_way_of_is_one_round_trip(
    harness: PostgresHarness, tmp_path: Path
) -> None:
    cases = StoredCases(harness=harness)
    going_on, done = await _claimed(cases, 2)
    fact = cases.fact(done.request, AuditKind.EXECUTION_FAILED, done.execution.id)
    ending = Ending(status=ExecutionStatus.FAILED, fact=fact, error_code="ANY_CODE")
    start = write_of(checkpoint_of(going_on.execution.id), cases.identifiers)
    writes = [
        FencedWrite(fence=going_on.fence, checkpoints=(start,)),
        FencedWrite(fence=done.fence, checkpoints=(), ending=ending),
    ]
    sent = tmp_path / "sent"
    async with await connect(evolve(harness.settings, makes_whole_trips=True)) as connection:
        with traced(connection, sent):
            assert await carry_out_together(connection, writes) == [Settled.WRITTEN] * 2
    assert round_trips(sent) == 1


async def test_what_is_in_the_way_of_a_batch_leaves_its_connection_as_good_as_before(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    first, held = await _claimed(cases, 2)
    writes = [
        FencedWrite(
            fence=one.fence,
            checkpoints=(write_of(checkpoint_of(one.execution.id), cases.identifiers),),
        )
        for one in (first, held)
    ]
    async with await connect(evolve(harness.settings, makes_whole_trips=True)) as connection:
        async with harness.superuser.transaction():
            await harness.superuser.execute(
                b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", (held.execution.id,)
            )
            assert await carry_out_together(connection, writes) == [Settled.WRITTEN, Settled.BUSY]
            assert connection.info.transaction_status is TransactionStatus.IDLE
        assert await carry_out_together(connection, writes[1:]) == [Settled.WRITTEN]
    assert [await _started(harness, one) for one in (first, held)] == [True, True]


async def test_batches_go_on_by_turns_with_and_without_something_in_the_way(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    claimed = await _claimed(cases, 12)
    writes = [
        FencedWrite(
            fence=one.fence, checkpoints=(write_of(checkpoint_of(one.execution.id), cases.identifiers),)
        )
        for one in claimed
    ]
    stale, *fresh = writes
    await harness.expire_lease(stale.fence.execution_id)
    # More often than it would take psycopg to prepare a statement, and the server to plan it for good.
    async with await connect(
        evolve(harness.settings, looks_rows_up=True, makes_whole_trips=True)
    ) as connection:
        for write in fresh:
            lost, written = await carry_out_together(connection, [stale, write])
            assert (type(lost), written) == (LeaseLost, Settled.WRITTEN)
    assert await _transactions(harness) == len(fresh)


async def test_a_request_in_another_state_is_moved_even_at_its_revision(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    going_on, done = await _claimed(cases, 2)
    for one in (going_on, done):
        await harness.superuser.execute(
            b"UPDATE orchestrator.request_instance SET current_state = 'ELSEWHERE' WHERE id = %s",
            (one.request.id,),
        )
    assert await _answers(
        _start(cases, going_on),
        complete(cases, done, done.fence, []),
    ) == [RequestMoved, RequestMoved]
    assert await _status(cases, done) is ExecutionStatus.RUNNING


async def test_whoever_is_stopped_in_the_middle_of_a_batch_keeps_its_rows_for_a_bounded_time(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    (held,) = await _claimed(cases, 1)
    settings = evolve(harness.settings, looks_rows_up=True, statement_timeout_seconds=0.25)
    lock = b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE"
    stopped = await connect(settings)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with stopped.pipeline():
                await stopped.execute(b"BEGIN")
                await (await stopped.execute(lock, (held.execution.id,))).fetchall()
                # Waits until the server has ended the session above, which says nothing more.
                await harness.superuser.execute(lock, (held.execution.id,))
                with pytest.raises(psycopg.OperationalError):
                    await (await stopped.execute(b"SELECT 1")).fetchall()
    except psycopg.OperationalError:
        # The pipeline's end has nobody to speak to.
        assert stopped.broken
    finally:
        await stopped.close()


async def test_every_kind_of_write_can_share_a_transaction(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    going_on, done, parked, failed = await _claimed(cases, 4)
    starts = [write_of(checkpoint_of(one.execution.id), cases.identifiers) for one in (done, parked, failed)]
    assert (
        await _answers(
            _start(cases, going_on),
            complete(cases, done, done.fence, starts[:1]),
            retry_later(cases, parked, parked.fence, starts[1:2]),
            fail(cases, failed, failed.fence, starts[2:]),
        )
        == [None] * 4
    )
    assert await _transactions(harness) == 1
    assert [await _status(cases, one) for one in (going_on, done, parked, failed)] == [
        ExecutionStatus.RUNNING,
        ExecutionStatus.SUCCEEDED,
        ExecutionStatus.RETRY_WAIT,
        ExecutionStatus.FAILED,
    ]
    for one in (done, parked, failed):
        assert verify_chain(await harness.history(one.request.id)) is None


async def test_a_stale_fence_in_a_batch_stops_its_own_write_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, stale, last = await _claimed(cases, 3)
    await harness.expire_lease(stale.execution.id)
    assert await _answers(*(_start(cases, one) for one in (first, stale, last))) == [None, LeaseLost, None]
    assert [await _started(harness, one) for one in (first, stale, last)] == [True, False, True]
    assert await _transactions(harness) == 1


async def test_a_moved_request_in_a_batch_stops_its_own_write_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, moved = await _claimed(cases, 2)
    await harness.move_request(moved.request.id)
    assert await _answers(_start(cases, first), _start(cases, moved)) == [None, RequestMoved]
    assert [await _started(harness, one) for one in (first, moved)] == [True, False]


async def test_a_moved_checkpoint_in_a_batch_stops_its_own_write_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, moved, last = await _claimed(cases, 3)
    await _start(cases, moved)
    history = await harness.history(moved.request.id)
    again = write_of(checkpoint_of(moved.execution.id), cases.identifiers)
    assert await _answers(
        _start(cases, first), complete(cases, moved, moved.fence, [again]), _start(cases, last)
    ) == [None, CheckpointMoved, None]
    assert await _status(cases, moved) is ExecutionStatus.RUNNING
    assert await harness.history(moved.request.id) == history
    assert [await _started(harness, one) for one in (first, last)] == [True, True]


async def test_a_completion_that_lacks_a_success_fails_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, lacking = await _claimed(cases, 2)
    expected = checkpoint_of(lacking.execution.id, status=CheckpointStatus.SUCCEEDED, result={"found": True})
    fact = cases.fact(lacking.request, AuditKind.TRANSITION_COMPLETED, lacking.execution.id)
    lent = harness.queue().complete(lacking.fence, LENT, writes=[], succeeded=[expected], fact=fact)
    assert await _answers(_start(cases, first), lent) == [None, CheckpointMoved]
    assert await _status(cases, lacking) is ExecutionStatus.RUNNING


async def test_a_row_that_makes_a_batch_fail_fails_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, failing, last = await _claimed(cases, 3)
    await harness.superuser.execute(
        b"""
        CREATE FUNCTION orchestrator.refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.input_hash = repeat('f', 64) THEN RAISE EXCEPTION 'refused'; END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER refuse_one BEFORE INSERT ON orchestrator.action_execution
        FOR EACH ROW EXECUTE FUNCTION orchestrator.refuse_one()
        """
    )
    refused = evolve(checkpoint_of(failing.execution.id), input_hash=Sha256Hex("f" * 64))
    assert await _answers(
        _start(cases, first),
        harness.queue().checkpoint(failing.fence, [write_of(refused, cases.identifiers)]),
        _start(cases, last),
    ) == [None, StorageRefused, None]
    assert [await _started(harness, one) for one in (first, failing, last)] == [True, False, True]


async def test_what_no_row_can_hold_fails_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, failing = await _claimed(cases, 2)
    unstorable = evolve(checkpoint_of(failing.execution.id), result={"name": "\u0000"})
    answers = await asyncio.gather(
        _start(cases, first),
        harness.queue().checkpoint(failing.fence, [write_of(unstorable, cases.identifiers)]),
        return_exceptions=True,
    )
    assert answers[0] is None
    assert isinstance(answers[1], OrchestratorError)
    assert [await _started(harness, one) for one in (first, failing)] == [True, False]


async def test_an_execution_that_somebody_holds_keeps_nobody_else_waiting(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    held, free = await _claimed(cases, 2)
    async with harness.superuser.transaction():
        await harness.rows(b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", held.execution.id)
        waiting = asyncio.create_task(_start(cases, held))
        await _start(cases, free)
        await harness.sessions_wait()
        assert not waiting.done()
    await waiting
    assert [await _started(harness, one) for one in (held, free)] == [True, True]


@pytest.mark.parametrize(
    "holding",
    [
        b"SELECT FROM orchestrator.execution FOR UPDATE",
        b"LOCK TABLE orchestrator.action_execution IN EXCLUSIVE MODE",
    ],
    ids=["a row, so that the write goes alone", "a table, so that the batch waits"],
)
async def test_whoever_awaits_a_write_that_closing_cuts_is_told(
    harness: PostgresHarness, holding: bytes
) -> None:
    cases = StoredCases(harness=harness)
    (claimed,) = await _claimed(cases, 1)
    start = write_of(checkpoint_of(claimed.execution.id), cases.identifiers)
    settings = ConnectionSettings(url=harness.database.runtime_url)
    queue = PostgresExecutionQueue(settings, SequentialIdentifiers(seed=3), closing_seconds=0.0)
    async with harness.superuser.transaction():
        await harness.superuser.execute(holding)
        write = asyncio.create_task(queue.checkpoint(claimed.fence, [start]))
        await harness.sessions_wait()
        behind = asyncio.create_task(queue.checkpoint(claimed.fence, []))
        await asyncio.sleep(0)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await queue.close()
            assert await _answers(_result_of(write), _result_of(behind)) == [StorageUnavailable] * 2
    assert not await harness.checkpoints(claimed.execution.id)


async def _result_of(write: asyncio.Task[None]) -> None:
    await write


async def test_a_request_that_somebody_holds_keeps_nobody_else_waiting(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    held, free = await _claimed(cases, 2)
    async with harness.superuser.transaction():
        await harness.rows(
            b"SELECT FROM orchestrator.request_instance WHERE id = %s FOR UPDATE", held.request.id
        )
        waiting = asyncio.create_task(complete(cases, held, held.fence, []))
        await complete(cases, free, free.fence, [])
        await harness.sessions_wait()
        assert not waiting.done()
    await waiting
    assert [await _status(cases, one) for one in (held, free)] == [ExecutionStatus.SUCCEEDED] * 2


async def test_a_run_that_is_cancelled_takes_nobody_out_of_the_batch(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    cancelled, other = await _claimed(cases, 2)
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"LOCK TABLE orchestrator.action_execution IN EXCLUSIVE MODE")
        leaving, staying = (asyncio.create_task(_start(cases, one)) for one in (cancelled, other))
        await harness.sessions_wait()
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    await staying
    assert [await _started(harness, one) for one in (cancelled, other)] == [True, True]


async def test_what_is_cancelled_before_its_batch_leaves_is_not_written(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first, cancelled, last = await _claimed(cases, 3)
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"LOCK TABLE orchestrator.action_execution IN EXCLUSIVE MODE")
        under_way = asyncio.create_task(_start(cases, first))
        await harness.sessions_wait()
        leaving, staying = (asyncio.create_task(_start(cases, one)) for one in (cancelled, last))
        await asyncio.sleep(0)
        leaving.cancel()
    await asyncio.gather(under_way, staying)
    assert [await _started(harness, one) for one in (first, cancelled, last)] == [True, False, True]


async def test_a_batch_that_is_the_victim_of_a_deadlock_is_written_row_by_row(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await _claimed(cases, 2)
    async with harness.superuser.transaction():
        # The one who looks for deadlocks sooner is the one who gives way.
        await harness.superuser.execute(b"SET LOCAL deadlock_timeout = '60s'")
        await harness.superuser.execute(b"LOCK TABLE orchestrator.action_execution IN EXCLUSIVE MODE")
        writes = [asyncio.create_task(_start(cases, one)) for one in claimed]
        await harness.sessions_wait()
        await harness.rows(b"SELECT FROM orchestrator.execution FOR UPDATE")
    assert await asyncio.gather(*writes) == [None, None]
    assert [await _started(harness, one) for one in claimed] == [True, True]


async def test_what_is_on_its_way_arrives_before_the_queue_is_closed(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    claimed = await _claimed(cases, 2)
    writes = [asyncio.create_task(_start(cases, one)) for one in claimed]
    await asyncio.sleep(0)
    await harness.queue().close()
    await asyncio.gather(*writes)
    assert [await _started(harness, one) for one in claimed] == [True, True]
