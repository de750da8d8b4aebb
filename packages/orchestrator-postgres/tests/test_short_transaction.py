"""A short transaction keeps all or nothing, and waits once for its last statements and its COMMIT together."""

from pathlib import Path

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.protocol_trace import round_trips, traced

from orchestrator_postgres.engine import connect
from orchestrator_postgres.short_transaction import short_transaction

_ADD = b"INSERT INTO kept VALUES (1)"
_FAIL = b"SELECT 1 / (SELECT count(*) FROM kept WHERE number = 2)"


async def test_what_is_executed_is_committed_and_what_was_not_fetched_inside_is_read_after(
    harness: PostgresHarness,
) -> None:
    await harness.superuser.execute(b"CREATE TEMP TABLE kept (number int)")
    async with short_transaction(harness.superuser):
        adding = await harness.superuser.execute(_ADD + b" RETURNING number")
    assert await adding.fetchall() == [{"number": 1}]
    assert await harness.rows(b"SELECT number FROM kept") == [{"number": 1}]


async def test_nothing_is_kept_of_what_a_caller_breaks_off(harness: PostgresHarness) -> None:
    await harness.superuser.execute(b"CREATE TEMP TABLE kept (number int)")

    async def broken_off() -> None:
        async with short_transaction(harness.superuser):
            await harness.superuser.execute(_ADD)
            raise KeyError

    with pytest.raises(KeyError):
        await broken_off()
    assert harness.superuser.info.transaction_status is TransactionStatus.IDLE
    assert await harness.rows(b"SELECT number FROM kept") == []


async def test_nothing_is_kept_when_a_statement_fails_whose_answer_nobody_awaited(
    harness: PostgresHarness,
) -> None:
    await harness.superuser.execute(b"CREATE TEMP TABLE kept (number int)")

    async def failing() -> None:
        async with short_transaction(harness.superuser):
            for statement in (_ADD, _FAIL, _ADD):
                await harness.superuser.execute(statement)

    with pytest.raises(psycopg.errors.DivisionByZero):
        await failing()
    assert harness.superuser.info.transaction_status is TransactionStatus.IDLE
    assert await harness.rows(b"SELECT number FROM kept") == []


async def test_begin_and_commit_travel_with_the_statements(harness: PostgresHarness, tmp_path: Path) -> None:
    sent = tmp_path / "sent"
    async with await connect(harness.settings) as connection:
        with traced(connection, sent):
            async with short_transaction(connection):
                await (await connection.execute(b"SELECT 1")).fetchall()
                await connection.execute(b"SELECT 2")
    # Once for what is fetched inside, once with COMMIT; psycopg's own transaction waits three times more.
    assert round_trips(sent) == 2
