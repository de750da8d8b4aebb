"""What PostgresWakeup does beyond the contract."""

import asyncio
from contextlib import aclosing

import pytest
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresWakeupHarness

from orchestrator_postgres.engine import ConnectionSettings, connect
from orchestrator_postgres.wakeup import PostgresWakeup

PATIENCE_SECONDS = 60.0


async def _hinted_until_woken(wakeup_harness: PostgresWakeupHarness) -> None:
    waiting = asyncio.create_task(wakeup_harness.waiting().wait(timeout_seconds=10 * PATIENCE_SECONDS))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not waiting.done():
            wakeup_harness.hinting().hint()
            await asyncio.wait([waiting], timeout=0.01)


async def test_hints_arrive_again_after_both_connections_were_cut(
    wakeup_harness: PostgresWakeupHarness,
) -> None:
    await _hinted_until_woken(wakeup_harness)
    await wakeup_harness.break_connection()
    await wakeup_harness.waiting().wait(timeout_seconds=0)
    # A new listener wakes its waiter once, for what it may have missed; the second one is a hint's doing.
    for _ in range(2):
        await _hinted_until_woken(wakeup_harness)


async def test_a_hint_that_came_while_nobody_waited_ends_the_next_wait(
    wakeup_harness: PostgresWakeupHarness, database: TestDatabase
) -> None:
    await _hinted_until_woken(wakeup_harness)
    await wakeup_harness.waiting().wait(timeout_seconds=0)
    database.execute("NOTIFY orchestrator_due")
    async with asyncio.timeout(PATIENCE_SECONDS):
        await wakeup_harness.waiting().wait(timeout_seconds=10 * PATIENCE_SECONDS)


@pytest.mark.parametrize("listens", [True, False])
async def test_without_a_server_hints_and_waits_end_all_the_same(*, listens: bool) -> None:
    settings = ConnectionSettings(url="postgresql://nobody@127.0.0.1:1/nowhere", connect_timeout_seconds=1)
    async with PostgresWakeup(settings, listens=listens) as wakeup:
        wakeup.hint()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await wakeup.wait(timeout_seconds=0.01)


async def test_hints_given_while_one_is_on_its_way_are_sent_as_one(database: TestDatabase) -> None:
    direct = ConnectionSettings(url=database.runtime_url)
    async with CuttingProxy(database.runtime_url) as proxy, await connect(direct) as listening:
        await listening.execute(b"LISTEN orchestrator_due")
        async with (
            asyncio.timeout(PATIENCE_SECONDS),
            aclosing(listening.notifies()) as heard,
            PostgresWakeup(ConnectionSettings(url=proxy.url), listens=False) as wakeup,
        ):
            proxy.hold_next(b"NOTIFY")
            wakeup.hint()
            await proxy.held.wait()
            for _ in range(100):
                wakeup.hint()
            proxy.let_answers_through()
            assert [(await anext(heard)).payload for _ in range(2)] == ["", ""]
            # A third one is sent for a third occasion, and whatever else there was to send comes before the last.
            wakeup.hint()
            assert (await anext(heard)).payload == ""
            await asyncio.to_thread(database.execute, "NOTIFY orchestrator_due, 'last'")
            assert (await anext(heard)).payload == "last"


async def test_a_hint_is_heard_where_it_is_given_without_a_server() -> None:
    settings = ConnectionSettings(url="postgresql://nobody@127.0.0.1:1/nowhere", connect_timeout_seconds=1)
    async with PostgresWakeup(settings) as wakeup, asyncio.timeout(PATIENCE_SECONDS):
        wakeup.hint()
        await wakeup.wait(timeout_seconds=10 * PATIENCE_SECONDS)


async def test_a_hint_wakes_where_it_is_given_once_and_not_again_when_it_comes_back(
    database: TestDatabase,
) -> None:
    settings = ConnectionSettings(url=database.runtime_url)
    async with await connect(settings) as listening, asyncio.timeout(PATIENCE_SECONDS):
        await listening.execute(b"LISTEN orchestrator_due")
        async with aclosing(listening.notifies()) as heard, PostgresWakeup(settings) as wakeup:
            # The listener wakes its waiter once, for what it may have missed.
            await wakeup.wait(timeout_seconds=10 * PATIENCE_SECONDS)
            wakeup.hint()
            await wakeup.wait(timeout_seconds=10 * PATIENCE_SECONDS)
            again = asyncio.create_task(wakeup.wait(timeout_seconds=10 * PATIENCE_SECONDS))
            await anext(heard)
            # Whatever follows one's own hint on the way through the server comes after it.
            await asyncio.to_thread(database.execute, "SELECT 1")
            assert not again.done()
            await asyncio.to_thread(database.execute, "NOTIFY orchestrator_due")
            await again


async def test_hints_on_an_idle_connection_leave_no_transaction_open(
    wakeup_harness: PostgresWakeupHarness, database: TestDatabase
) -> None:
    await _hinted_until_woken(wakeup_harness)
    states = database.execute(
        "SELECT DISTINCT state FROM pg_stat_activity"
        " WHERE application_name = 'orchestrator-wakeup' AND datname = current_database()"
    )
    assert states == [("idle",)]


async def test_what_keeps_hints_from_passing_is_told_by_its_kind_alone(database: TestDatabase) -> None:
    url = database.runtime_url.replace(":runtime@", ":wonderland@")
    kinds: asyncio.Queue[str] = asyncio.Queue()
    async with (
        PostgresWakeup(ConnectionSettings(url=url), listens=False, disturbed=kinds.put_nowait),
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        # Told again at the next try: the sender goes on.
        assert {await kinds.get(), await kinds.get()} == {"OperationalError"}


async def test_a_connection_that_is_cut_is_told_by_its_state(
    database: TestDatabase,
) -> None:
    kinds: asyncio.Queue[str] = asyncio.Queue()
    settings = ConnectionSettings(url=database.runtime_url, application_name="orchestrator-cut")
    async with (
        PostgresWakeup(settings, disturbed=kinds.put_nowait) as wakeup,
        asyncio.timeout(PATIENCE_SECONDS),
    ):
        await wakeup.wait(timeout_seconds=10 * PATIENCE_SECONDS)
        database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'orchestrator-cut' AND query LIKE 'LISTEN%%'"
        )
        assert await kinds.get() in ("57P01", "OperationalError")
