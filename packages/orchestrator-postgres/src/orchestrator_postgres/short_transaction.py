"""A transaction in two round trips: BEGIN travels with the first statements, COMMIT with the last ones."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from orchestrator_postgres.engine import StoreConnection


@asynccontextmanager
async def short_transaction(connection: StoreConnection) -> AsyncIterator[None]:
    """Commit what is executed inside, in a pipeline; roll it back if anything is raised.

    psycopg's own `transaction()` waits in a pipeline for the answers to BEGIN, to the last statement and to COMMIT, one
    after the other. Here the answers to what was not fetched inside come with that to COMMIT, so a statement's fault may
    be raised only then; after a fault nothing is committed, for the server skips what follows it.
    """
    try:
        async with connection.pipeline():
            await connection.execute(b"BEGIN")
            yield
            await connection.execute(b"COMMIT")
    except BaseException:
        if not connection.closed:
            await connection.rollback()
        raise
