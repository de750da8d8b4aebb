"""Requests are locked before executions; who does it the other way round deadlocks with everybody else."""

import asyncio

import pytest
from psycopg.errors import DeadlockDetected, LockNotAvailable
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.testing.contracts.fenced_writes import WRITES_WITH_A_FACT, FencedWrite
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_postgres.engine import connect
from orchestrator_postgres.statements import sql_file

_TAKE_REQUEST = b"SELECT FROM orchestrator.request_instance WHERE id = %s FOR UPDATE NOWAIT"
_TAKE_EXECUTION = b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE"


@pytest.mark.parametrize("ending", WRITES_WITH_A_FACT)
async def test_an_ending_holds_the_request_before_it_waits_for_the_execution(
    harness: PostgresHarness, ending: FencedWrite
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    async with await connect(harness.settings) as other:
        async with harness.superuser.transaction():
            await harness.superuser.execute(_TAKE_EXECUTION, (claimed.execution.id,))
            ended = asyncio.create_task(ending(cases, claimed, claimed.fence, []))
            await harness.sessions_wait()
            with pytest.raises(LockNotAvailable):
                await other.execute(_TAKE_REQUEST, (claimed.request.id,))
        await ended


async def test_an_ending_that_locked_the_execution_first_would_deadlock_with_one_that_does_not(
    harness: PostgresHarness,
) -> None:
    claimed = await StoredCases(harness=harness).claimed()
    values = {"request_id": claimed.request.id, "execution_id": claimed.execution.id}
    right = (sql_file("lock_request"), sql_file("lock_execution"))
    both_hold_one = asyncio.Barrier(2)

    async def locked(first: bytes, second: bytes) -> None:
        async with await connect(harness.settings) as connection, connection.transaction():
            await connection.execute(first, values)
            await both_hold_one.wait()
            await connection.execute(second, values)

    answers = await asyncio.gather(locked(*right), locked(*reversed(right)), return_exceptions=True)
    assert [type(answer) for answer in answers if answer is not None] == [DeadlockDetected]
