"""A server that takes what it is sent and never answers, with its connection open: nobody waits for it for ever."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from attrs import frozen
from psycopg_pool import PoolTimeout
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine, StoreConnection
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.fault_translation import TransientFault, translated_faults
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork

LOOKS_MAX = 10_000
PATIENCE_SECONDS = 60
_WHATEVER_COMES = b""


@frozen(kw_only=True)
class Silence:
    """Stored cases, and a proxy on the way to their database that can keep answers to itself."""

    proxy: CuttingProxy
    settings: ConnectionSettings
    cases: StoredCases
    harness: PostgresHarness


@pytest.fixture
async def silence(harness: PostgresHarness) -> AsyncIterator[Silence]:
    """A way to the database on which an answer is waited for a second."""
    async with CuttingProxy(harness.database.runtime_url) as proxy:
        settings = ConnectionSettings(url=proxy.url, statement_timeout_seconds=0.5)
        yield Silence(proxy=proxy, settings=settings, cases=StoredCases(harness=harness), harness=harness)
        proxy.let_answers_through()


async def test_writes_behind_one_that_is_never_answered_are_carried_out_once_each(silence: Silence) -> None:
    first, behind = [await silence.cases.claimed() for _ in range(2)]
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        PostgresExecutionQueue(silence.settings, SequentialIdentifiers(seed=8)) as queue,
    ):
        silence.proxy.hold_next(b"COMMIT")
        writing = [
            asyncio.create_task(
                queue.checkpoint(
                    one.fence, [write_of(checkpoint_of(one.execution.id), silence.cases.identifiers)]
                )
            )
            for one in (first, behind)
        ]
        await silence.proxy.held.wait()
        await asyncio.gather(*writing)
    for one in (first, behind):
        (stored,) = await silence.harness.checkpoints(one.execution.id)
        assert stored.status is CheckpointStatus.RUNNING


async def test_a_claim_that_is_never_answered_is_made_again_on_another_connection(silence: Silence) -> None:
    execution = await silence.cases.accepted()
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        PostgresExecutionQueue(silence.settings, SequentialIdentifiers(seed=8), connections_max=1) as queue,
    ):
        silence.proxy.hold_next(b"lease_owner")
        (claimed,) = await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
        assert silence.proxy.held.is_set()
        assert claimed.execution.id == execution.id
        await queue.checkpoint(
            claimed.fence, [write_of(checkpoint_of(execution.id), silence.cases.identifiers)]
        )
    assert len(await silence.harness.checkpoints(execution.id)) == 1


async def test_shared_acceptances_get_another_connection_for_one_that_never_answers(silence: Silence) -> None:
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        PostgresEngine(silence.settings, connections_min=0) as engine,
    ):
        silence.proxy.hold_next(b"never answered")
        with pytest.raises(TransientFault), translated_faults():
            async with engine.connection_by_key() as connection:
                await connection.execute(b"SELECT 'never answered'")
        async with engine.connection_by_key() as connection:
            assert not connection.broken
            await connection.execute(b"SELECT 1")


async def test_a_story_that_is_never_answered_is_told_again_on_another_connection(silence: Silence) -> None:
    async def story(_: Transaction) -> None:
        return None

    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        PostgresEngine(silence.settings, connections_min=0) as engine,
    ):
        silence.proxy.hold_next(b"COMMIT")
        await PostgresUnitOfWork(engine).run(story)
    assert silence.proxy.held.is_set()


async def test_a_look_at_a_connection_that_is_never_answered_makes_room_for_another_one(
    silence: Silence,
) -> None:
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        PostgresEngine(
            silence.settings, connections_min=0, connections_max=1, checkout_timeout_seconds=1.0
        ) as engine,
    ):
        silent = await _idle_for_long(engine)
        silence.proxy.hold_next(_WHATEVER_COMES)
        assert await _lent_at_last(engine) is not silent
    assert silence.proxy.held.is_set()
    assert silent.closed


async def _idle_for_long(engine: PostgresEngine) -> StoreConnection:
    """Return the engine's connection, which has been back for so long that it is looked at before it is lent again."""
    async with engine.connection() as connection:
        await connection.execute(b"SELECT 1")
    for _ in range(LOOKS_MAX):
        if engine.pool_use().idle:
            break
        await asyncio.sleep(0)
    # Not earlier: it is a task of the pool that takes the connection back and says when that was.
    assert engine.pool_use().idle
    connection.given_back = 0.0
    return connection


async def _lent_at_last(engine: PostgresEngine) -> StoreConnection:
    """Ask until a connection is lent: a busy machine may take longer to open one than a caller waits."""
    while True:
        with suppress(PoolTimeout):
            async with engine.connection() as connection:
                await connection.execute(b"SELECT 1")
                return connection
