"""Whether the database can take work now."""

import asyncio

import psycopg
from psycopg_pool import PoolTimeout

from orchestrator_postgres.engine import PostgresEngine

_PROBE_SECONDS = 2.0


async def unreadiness(engine: PostgresEngine) -> str | None:
    """Say why the store can't serve, in words that give nothing away, or None when it can.

    A standby answers every harmless query, so it is asked whether it is one.
    """
    try:
        async with asyncio.timeout(_PROBE_SECONDS), engine.connection() as connection:
            row = await (await connection.execute("SELECT pg_is_in_recovery() AS standby")).fetchone()
    except (psycopg.Error, PoolTimeout, OSError, TimeoutError):
        return "the database does not answer"
    return "the database is a standby" if row is None or row["standby"] else None
