"""A database that was away is looked for by whoever asks, and not after a pause that has grown while it was away."""

import asyncio
import socket
from contextlib import suppress

from psycopg_pool import PoolTimeout
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine


async def test_an_engine_stops_trying_with_those_who_asked_and_finds_the_database_for_the_next(
    harness: PostgresHarness,
) -> None:
    proxy = CuttingProxy(harness.database.runtime_url, port=_port_that_nobody_listens_on())
    async with proxy:
        settings = ConnectionSettings(url=proxy.url)
    async with PostgresEngine(settings, connections_min=0, checkout_timeout_seconds=0.1) as engine:
        await _ask(engine)
        async with asyncio.timeout(20):
            while engine.pool_use().busy:
                await _ask(engine)
        async with proxy, asyncio.timeout(60):
            while not engine.pool_use().idle:
                await _ask(engine)


async def _ask(engine: PostgresEngine) -> None:
    with suppress(PoolTimeout):
        async with engine.connection():
            return


def _port_that_nobody_listens_on() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])
