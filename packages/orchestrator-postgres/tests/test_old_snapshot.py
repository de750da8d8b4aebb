"""A transaction that somebody holds open for long keeps dead rows in place, and the queue goes on as before (race 14)."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest
from attrs import evolve
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.fenced_writes import complete
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_postgres.claim import claim_due
from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.engine import StoreConnection, connect
from orchestrator_postgres.statements import sql_file

_AT_ONCE = 200


@pytest.fixture
async def old_snapshot(harness: PostgresHarness) -> AsyncIterator[None]:
    """A snapshot from before everything that the test does."""
    async with (
        await connect(evolve(harness.settings, url=harness.database.superuser_url)) as holder,
        holder.transaction(),
    ):
        await holder.execute(b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await holder.execute(b"SELECT count(*) FROM orchestrator.execution")
        yield


async def require_the_queue_to_run(harness: PostgresHarness, executions: int) -> None:
    """Run so many executions, and require each to end once and claims to stay as small as the first."""
    cases = StoredCases(harness=harness)
    await store_due(harness, await cases.accepted(), executions)
    horizon = ClaimHorizon(clock=lambda: 0.0)
    ended: list[object] = []
    async with await connect(evolve(harness.settings, looks_rows_up=True)) as connection:
        while claimed := await claim(connection, horizon):
            await asyncio.gather(*(complete(cases, one, one.fence, []) for one in claimed))
            ended += [one.execution.id for one in claimed]
        looked_back = await blocks_of_a_claim(connection, horizon)
        looked_everywhere = await blocks_of_a_claim(connection, ClaimHorizon(clock=lambda: 0.0))
    assert len(ended) == len(set(ended)) == executions
    (row,) = await harness.rows(
        b"SELECT count(*) AS done, sum(attempts) AS claims FROM orchestrator.execution WHERE status = 'SUCCEEDED'"
    )
    assert (row["done"], row["claims"]) == (executions, executions)
    # What was walked over once is dead and can't be cleared away; only looking everywhere meets it again.
    assert looked_back * 5 < looked_everywhere


async def claim(connection: StoreConnection, horizon: ClaimHorizon) -> Sequence[ClaimedExecution]:
    found = await claim_due(connection, horizon, owner=WORKER, limit=_AT_ONCE, lease_seconds=LEASE_SECONDS)
    return found.executions


async def store_due(harness: PostgresHarness, pattern: Execution, count: int) -> None:
    """Store so many accepted events, due a tenth of a second apart, each like the one of a real acceptance."""
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"SET LOCAL session_replication_role = replica")
        for statement in _COPIES:
            await harness.superuser.execute(statement, {"pattern": pattern.id, "count": count - 1})


async def blocks_of_a_claim(connection: StoreConnection, horizon: ClaimHorizon) -> int:
    """Return how many blocks a claim looks at that finds nothing."""
    values = {"owner": WORKER, "claims_max": 10, "lease_seconds": LEASE_SECONDS, **horizon.bounds()}
    explained = await connection.execute(
        b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql_file("claim_mark"), values
    )
    row = await explained.fetchone()
    assert row is not None
    plan = row["QUERY PLAN"][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def test_hundreds_of_executions_run_as_ever_while_an_old_snapshot_is_held(
    harness: PostgresHarness, old_snapshot: None
) -> None:
    await require_the_queue_to_run(harness, 400)


@pytest.mark.exhaustive
async def test_thousands_of_executions_run_as_ever_while_an_old_snapshot_is_held(
    harness: PostgresHarness, old_snapshot: None
) -> None:
    await require_the_queue_to_run(harness, 6000)


_COPIES = (
    b"""
    CREATE TEMPORARY TABLE copy ON COMMIT DROP AS
    SELECT gen_random_uuid() AS request_id, number FROM generate_series(1, %(count)s) AS number
    """,
    b"""
    INSERT INTO orchestrator.request_instance
    SELECT (jsonb_populate_record(request, jsonb_build_object('id', copy.request_id))).*
    FROM copy
    CROSS JOIN orchestrator.execution AS pattern
    JOIN orchestrator.request_instance AS request ON request.id = pattern.request_id
    WHERE pattern.id = %(pattern)s
    """,
    b"""
    INSERT INTO orchestrator.execution
    SELECT (jsonb_populate_record(pattern, jsonb_build_object(
      'id', gen_random_uuid(),
      'request_id', copy.request_id,
      'next_attempt_at', clock_timestamp() - interval '1 hour' + copy.number * interval '100 milliseconds'
    ))).*
    FROM copy
    CROSS JOIN orchestrator.execution AS pattern
    WHERE pattern.id = %(pattern)s
    """,
)
