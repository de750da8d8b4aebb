"""A server that takes what it is sent and never answers, with its connection open: nobody waits for it for ever."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from attrs import frozen
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.fault_translation import TransientFault, translated_faults


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
    async with CuttingProxy(harness.database.runtime_url) as proxy, asyncio.timeout(60):
        settings = ConnectionSettings(url=proxy.url, statement_timeout_seconds=0.5)
        yield Silence(proxy=proxy, settings=settings, cases=StoredCases(harness=harness), harness=harness)
        proxy.let_answers_through()


async def test_writes_behind_one_that_is_never_answered_are_carried_out_once_each(silence: Silence) -> None:
    first, behind = [await silence.cases.claimed() for _ in range(2)]
    async with PostgresExecutionQueue(silence.settings, SequentialIdentifiers(seed=8)) as queue:
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
    async with PostgresExecutionQueue(
        silence.settings, SequentialIdentifiers(seed=8), connections_max=1
    ) as queue:
        silence.proxy.hold_next(b"lease_owner")
        (claimed,) = await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
        assert silence.proxy.held.is_set()
        assert claimed.execution.id == execution.id
        await queue.checkpoint(
            claimed.fence, [write_of(checkpoint_of(execution.id), silence.cases.identifiers)]
        )
    assert len(await silence.harness.checkpoints(execution.id)) == 1


async def test_shared_acceptances_get_another_connection_for_one_that_never_answers(silence: Silence) -> None:
    async with PostgresEngine(silence.settings, connections_min=0) as engine:
        silence.proxy.hold_next(b"never answered")
        with pytest.raises(TransientFault), translated_faults():
            async with engine.connection_by_key() as connection:
                await connection.execute(b"SELECT 'never answered'")
        async with engine.connection_by_key() as connection:
            assert not connection.broken
            await connection.execute(b"SELECT 1")
