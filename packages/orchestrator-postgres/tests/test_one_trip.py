"""A whole transaction sent as one piece keeps all or nothing, and its connection stays usable or is closed."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.protocol_trace import round_trips, traced

from orchestrator_postgres.engine import ConnectionSettings, StoreConnection, connect
from orchestrator_postgres.fault_translation import TransientFault, translated_faults
from orchestrator_postgres.one_trip import OneTrip

_ADD = b"INSERT INTO public.kept VALUES (%(number)s::int, %(text)s::text)"
_DIVIDE = b"SELECT 1 / %(number)s::int WHERE %(text)s::text <> %(number)s::text"


@pytest.fixture
async def table(harness: PostgresHarness) -> PostgresHarness:
    await harness.superuser.execute(
        b"CREATE TABLE public.kept (number int UNIQUE DEFERRABLE INITIALLY DEFERRED, text text)"
    )
    return harness


def _trip(*statements: tuple[bytes, int]) -> OneTrip:
    trip = OneTrip()
    for statement, number in statements:
        trip.add(statement, {"number": str(number), "text": "100%", "nobody_asks_for": "this"})
    return trip


async def _kept(harness: PostgresHarness) -> list[int]:
    return [row["number"] for row in await harness.rows(b"SELECT number FROM public.kept ORDER BY number")]


async def _owner(harness: PostgresHarness) -> StoreConnection:
    return await connect(ConnectionSettings(url=harness.database.superuser_url, makes_whole_trips=True))


async def test_everything_is_committed_in_one_round_trip(table: PostgresHarness, tmp_path: Path) -> None:
    async with await _owner(table) as connection:
        for first in (1, 3):
            sent = tmp_path / f"sent{first}"
            with traced(connection, sent):
                await _trip((_ADD, first), (_DIVIDE, 1), (_ADD, first + 1)).carry_out(connection)
            assert round_trips(sent) == 1
        assert connection.info.transaction_status is TransactionStatus.IDLE
    assert await _kept(table) == [1, 2, 3, 4]
    assert await table.rows(b"SELECT DISTINCT text FROM public.kept") == [{"text": "100%"}]


async def test_a_statement_is_prepared_once_on_a_connection(table: PostgresHarness, tmp_path: Path) -> None:
    async with await _owner(table) as connection:
        for number, prepared in ((1, 3), (2, 2)):
            sent = tmp_path / f"sent{number}"
            with traced(connection, sent):
                await _trip((_ADD, number), (_ADD, 10 * number)).carry_out(connection)
            # BEGIN and COMMIT have no name to be known by.
            assert sent.read_text().count("\tParse\t") == prepared


async def test_nothing_is_kept_after_a_fault_and_the_connection_goes_on(table: PostgresHarness) -> None:
    later = b"INSERT INTO public.kept VALUES (7, %(text)s::text)"
    async with await _owner(table) as connection:
        for _ in range(2):
            with pytest.raises(psycopg.errors.DivisionByZero):
                # The last one is passed over, and may not count as prepared.
                await _trip((_ADD, 1), (_DIVIDE, 0), (later, 0)).carry_out(connection)
            assert connection.info.transaction_status is TransactionStatus.IDLE
        assert await _kept(table) == []
        await _trip((later, 0), (_ADD, 1)).carry_out(connection)
        await connection.execute(b"SELECT 1")
    assert await _kept(table) == [1, 7]


async def test_what_is_refused_at_commit_is_told_and_not_kept(table: PostgresHarness) -> None:
    async with await _owner(table) as connection:
        with pytest.raises(psycopg.errors.UniqueViolation):
            await _trip((_ADD, 1), (_ADD, 1)).carry_out(connection)
        assert connection.info.transaction_status is TransactionStatus.IDLE
        await _trip((_ADD, 2)).carry_out(connection)
    assert await _kept(table) == [2]


async def test_more_than_any_buffer_holds_goes_both_ways(table: PostgresHarness) -> None:
    trip = OneTrip()
    for _ in range(20):
        trip.add(b"SELECT repeat(%(text)s::text, 2)", {"text": "x" * 1_000_000})
    trip.add(_ADD, {"number": "1", "text": "x" * 1_000_000})
    async with await _owner(table) as connection:
        await asyncio.wait_for(trip.carry_out(connection), timeout=60)
    assert await _kept(table) == [1]


async def test_a_connection_that_the_server_ends_counts_as_broken(table: PostgresHarness) -> None:
    ending = b"SELECT pg_terminate_backend(pg_backend_pid()) WHERE %(text)s::text <> %(number)s::text"
    async with await _owner(table) as connection:
        with pytest.raises(psycopg.errors.AdminShutdown):
            await _trip((_ADD, 1), (ending, 1), (_ADD, 2)).carry_out(connection)
        assert connection.broken
    assert await _kept(table) == []


async def test_a_transaction_that_took_too_long_may_be_tried_again(table: PostgresHarness) -> None:
    sleeping = b"SELECT pg_sleep(60) WHERE %(text)s::text <> %(number)s::text"
    async with await _owner(table) as connection:
        await connection.execute(b"SET transaction_timeout = '50ms'")
        with pytest.raises(TransientFault) as told, translated_faults():
            await _trip((_ADD, 1), (sleeping, 1), (_ADD, 2)).carry_out(connection)
        assert told.value.sqlstate == "25P04"
        assert connection.broken
    assert await _kept(table) == []


async def test_whoever_is_cancelled_leaves_no_answer_to_be_taken_for_another(table: PostgresHarness) -> None:
    async with await _owner(table) as connection:
        async with table.superuser.transaction():
            await table.superuser.execute(b"LOCK TABLE public.kept IN ACCESS EXCLUSIVE MODE")
            waiting = asyncio.create_task(_trip((_ADD, 1)).carry_out(connection))
            while (await table.rows(b"SELECT count(*) FROM pg_locks WHERE NOT granted"))[0]["count"] == 0:
                pass
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
        assert connection.closed
    assert await _kept(table) == []


async def test_what_is_prepared_outlives_what_psycopg_rolls_back(table: PostgresHarness) -> None:
    async with await _owner(table) as connection:
        await _trip((_ADD, 1)).carry_out(connection)
        # psycopg would prepare what it has sent five times, and forgets what is prepared after a rollback.
        for _ in range(7):
            await connection.execute(b"SELECT 1")
        async with connection.transaction(force_rollback=True):
            await connection.execute(b"SELECT 1")
        await connection.execute(b"SELECT 1")
        await _trip((_ADD, 2)).carry_out(connection)
    assert await _kept(table) == [1, 2]


async def test_a_connection_on_which_psycopg_prepares_is_refused(harness: PostgresHarness) -> None:
    async with await connect(harness.settings) as connection:
        with pytest.raises(AssertionError):
            await _trip((_DIVIDE, 1)).carry_out(connection)


async def test_a_value_that_libpq_would_cut_is_refused() -> None:
    with pytest.raises(psycopg.DataError):
        OneTrip().add(_ADD, {"number": "1", "text": "cut\0here"})
