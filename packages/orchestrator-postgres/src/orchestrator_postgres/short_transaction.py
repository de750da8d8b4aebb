"""A transaction that waits only for what it reads: BEGIN travels with the first statements, COMMIT with the last ones."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import AsyncPipeline

from orchestrator_postgres.engine import StoreConnection


@asynccontextmanager
async def short_transaction(connection: StoreConnection) -> AsyncIterator[AsyncPipeline]:
    """Commit what is executed inside, in the pipeline that is lent; roll it back if anything is raised.

    psycopg's own `transaction()` waits in a pipeline for the answers to BEGIN, to the last statement and to COMMIT, one
    after the other. Here the answers to what was not fetched inside come with that to COMMIT, so a statement's fault may
    be raised only then; after a fault nothing is committed, for the server skips what follows it. Who must see those
    answers before it lets the COMMIT go awaits the pipeline's `sync`, which is one round trip more.
    """
    try:
        async with connection.pipeline() as pipeline:
            await connection.execute(b"BEGIN")
            yield pipeline
            await connection.execute(b"COMMIT")
    except BaseException:
        if not connection.closed:
            await connection.rollback()
        raise
