"""Looking at the whole queue: what stands where, for how long, and never at what has ended."""

import re

from attrs import evolve
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_postgres.engine import PostgresEngine, connect
from orchestrator_postgres.queue_state import COUNTED_MAX, QueueState, read_queue_state
from orchestrator_postgres.statements import sql_file

PENDING, RUNNING = ExecutionStatus.PENDING, ExecutionStatus.RUNNING
WAITING, STOPPED = ExecutionStatus.RETRY_WAIT, ExecutionStatus.RECONCILIATION_REQUIRED


async def test_an_empty_queue_has_nothing_that_waits(harness: PostgresHarness) -> None:
    assert await _read(harness) == QueueState(
        executions={PENDING: 0, RUNNING: 0, WAITING: 0, STOPPED: 0},
        longest_due_seconds=0.0,
        expired_leases=0,
        oldest_reconciliation_seconds=0.0,
    )


async def test_a_look_counts_what_has_not_ended_and_tells_for_how_long_the_oldest_has_waited(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    accepted = [(await cases.accepted()).id for _ in range(8)]
    for execution, change in zip(
        accepted,
        (
            "next_attempt_at = clock_timestamp() - interval '90 s'",
            "next_attempt_at = clock_timestamp() + interval '1 h', status = 'RETRY_WAIT'",
            "status = 'RETRY_WAIT', next_attempt_at = clock_timestamp() - interval '5 min'",
            "status = 'RUNNING', lease_owner = 'w', lease_until = clock_timestamp() - interval '1 s'",
            "status = 'RUNNING', lease_owner = 'w', lease_until = clock_timestamp() + interval '1 h'",
            "status = 'RECONCILIATION_REQUIRED', updated_at = clock_timestamp() - interval '2 h'",
            "status = 'RECONCILIATION_REQUIRED', updated_at = clock_timestamp() - interval '1 h'",
            "status = 'FAILED', updated_at = clock_timestamp() - interval '9 h'",
        ),
        strict=True,
    ):
        await harness.superuser.execute(
            f"UPDATE orchestrator.execution SET {change} WHERE id = %s".encode(), [execution]
        )

    state = await _read(harness)

    assert state.executions == {PENDING: 1, RUNNING: 2, WAITING: 2, STOPPED: 2}
    assert 300 <= state.longest_due_seconds < 600
    assert 7200 <= state.oldest_reconciliation_seconds < 10_000
    assert state.expired_leases == 1


async def test_what_has_ended_is_never_walked_over_however_much_of_it_there_is(
    harness: PostgresHarness,
) -> None:
    await _finish_many(harness)
    text = re.sub(r"%\(\w+\)s", str(COUNTED_MAX), sql_file("read_queue_state").decode())
    async with await connect(harness.settings) as connection, connection.transaction():
        await connection.execute(b"SELECT set_config('enable_seqscan', 'off', true)")
        cursor = await connection.execute(
            f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) {text}".encode()
        )
        plan = "\n".join(row["QUERY PLAN"] for row in await cursor.fetchall())
    assert "Seq Scan on execution" not in plan
    assert set(re.findall(r"(?:using|on) (uq_\w+|ix_\w+)", plan)) == {
        "uq_request_active_execution",
        "ix_execution_due",
        "ix_execution_lease",
    }
    walked = [int(rows) for rows in re.findall(r"Scan .*actual rows=(\d+)", plan)]
    assert sum(walked) <= 200
    assert "Rows Removed" not in plan


async def test_a_pool_tells_what_is_lent_without_asking_the_database(harness: PostgresHarness) -> None:
    async with PostgresEngine(harness.settings, connections_max=3) as engine:
        async with engine.connection():
            use = engine.pool_use()
        assert (use.busy >= 1, use.waiting, use.connections_max) == (True, 0, 3)


async def _read(harness: PostgresHarness) -> QueueState:
    async with PostgresEngine(evolve(harness.settings), connections_max=2) as engine:
        return await read_queue_state(engine)


async def _finish_many(harness: PostgresHarness) -> None:
    """Store 5000 executions that have ended, and 50 that wait."""
    flow = await StoredCases(harness=harness).active_flow()
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"SET LOCAL session_replication_role = replica")
        await harness.superuser.execute(
            b"""
            INSERT INTO orchestrator.request_instance
              (id, type_key, flow_id, current_state, owner_subject, business_scope)
            SELECT gen_random_uuid(), 'LENDING', %(flow)s, 'OPEN', 'clerk-1', 'NORTH' FROM generate_series(1, 5050)
            """,
            {"flow": flow.id},
        )
        await harness.superuser.execute(
            b"""
            INSERT INTO orchestrator.execution
              (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
               transition_id, from_state, accepted_revision, status)
            SELECT
              gen_random_uuid(), id, 'key', repeat('0', 64), 'clerk-1', '{}', 'CHECK', '{}', 'check', 'OPEN', 1,
              CASE WHEN row_number() OVER () <= 50 THEN 'PENDING' ELSE 'SUCCEEDED' END
            FROM orchestrator.request_instance
            """
        )
    # A database that another test has used before holds entries of rows that are gone, which a scan would walk over.
    await harness.superuser.execute(b"VACUUM ANALYZE")
