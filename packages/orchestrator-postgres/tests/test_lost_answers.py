"""Broken connections: what was committed counts once, what wasn't is done again, whatever the answer was."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from attrs import evolve, frozen
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import IdempotencyKey
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.fenced_writes import (
    FENCED_WRITES,
    WRITES_WITH_A_FACT,
    FencedWrite,
)
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import CLERK, checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork


class ProxiedHarness(PostgresHarness):
    """A harness whose queue and stories go through a proxy."""

    def __init__(
        self, behind: PostgresHarness, queue: PostgresExecutionQueue, engine: PostgresEngine
    ) -> None:
        super().__init__(behind.database)
        self._superuser = behind.superuser
        self._queue = queue
        self.engine = engine


@frozen(kw_only=True)
class Cut:
    proxy: CuttingProxy
    cases: StoredCases
    harness: ProxiedHarness


@pytest.fixture
async def cut(harness: PostgresHarness) -> AsyncIterator[Cut]:
    """Cases whose ports go through a proxy, and the proxy."""
    async with CuttingProxy(harness.database.runtime_url) as proxy:
        settings = ConnectionSettings(url=proxy.url, application_name="orchestrator-proxied")
        async with (
            PostgresExecutionQueue(settings, SequentialIdentifiers(seed=8)) as queue,
            PostgresEngine(settings, connections_min=0) as engine,
        ):
            proxied = ProxiedHarness(harness, queue, engine)
            yield Cut(proxy=proxy, cases=StoredCases(harness=proxied), harness=proxied)


@pytest.mark.parametrize("fault", [CuttingProxy.cut_next_commit, CuttingProxy.lose_next_commit])
@pytest.mark.parametrize("write", FENCED_WRITES)
async def test_a_write_whose_commit_got_no_answer_is_done_once(
    cut: Cut, write: FencedWrite, fault: Callable[[CuttingProxy], None]
) -> None:
    claimed = await cut.cases.claimed()
    before = await cut.harness.history(claimed.request.id)
    start = write_of(checkpoint_of(claimed.execution.id), cut.cases.identifiers)
    fault(cut.proxy)
    await write(cut.cases, claimed, claimed.fence, [start])
    assert cut.proxy.cuts == 1
    assert [one.status for one in await cut.harness.checkpoints(claimed.execution.id)] == [
        CheckpointStatus.RUNNING
    ]
    after = await cut.harness.history(claimed.request.id)
    assert len(after) - len(before) == (1 if write in WRITES_WITH_A_FACT else 0)
    assert verify_chain(after) is None


@pytest.mark.parametrize("fault", [CuttingProxy.cut_next_commit, CuttingProxy.lose_next_commit])
async def test_a_batch_whose_commit_got_no_answer_is_settled_row_by_row(
    cut: Cut, fault: Callable[[CuttingProxy], None]
) -> None:
    for _ in FENCED_WRITES:
        await cut.cases.accepted()
    claims = await cut.harness.queue().claim(owner=WORKER, limit=10, lease_seconds=LEASE_SECONDS)
    histories = [list(await cut.harness.history(one.request.id)) for one in claims]
    starts = [write_of(checkpoint_of(one.execution.id), cut.cases.identifiers) for one in claims]
    writes = zip(FENCED_WRITES, claims, starts, strict=True)
    fault(cut.proxy)
    await asyncio.gather(*(write(cut.cases, one, one.fence, [start]) for write, one, start in writes))
    assert cut.proxy.cuts == 1
    for write, one, before in zip(FENCED_WRITES, claims, histories, strict=True):
        assert len(await cut.harness.checkpoints(one.execution.id)) == 1
        after = await cut.harness.history(one.request.id)
        assert len(after) - len(before) == (1 if write in WRITES_WITH_A_FACT else 0)
        assert verify_chain(after) is None


async def test_a_replaced_checkpoint_whose_commit_got_no_answer_is_written_once(cut: Cut) -> None:
    claimed = await cut.cases.claimed()
    start = checkpoint_of(claimed.execution.id)
    await cut.harness.queue().checkpoint(claimed.fence, [write_of(start, cut.cases.identifiers)])
    done = evolve(start, status=CheckpointStatus.SUCCEEDED, result={"found": True})
    cut.proxy.cut_next_commit()
    await cut.harness.queue().checkpoint(
        claimed.fence, [write_of(done, cut.cases.identifiers, before=(CheckpointStatus.RUNNING, 1))]
    )
    assert cut.proxy.cuts == 1
    (stored,) = await cut.harness.checkpoints(claimed.execution.id)
    assert (stored.status, stored.result) == (CheckpointStatus.SUCCEEDED, {"found": True})


async def test_an_acceptance_whose_commit_got_no_answer_is_accepted_once(cut: Cut) -> None:
    request = await cut.cases.request()

    async def story(transaction: Transaction) -> Execution:
        found = await transaction.requests.lock_visible(request.id, CLERK)
        assert found is not None
        earlier = await transaction.requests.execution_by_key(request.id, IdempotencyKey("check-1"))
        return earlier or await cut.cases.accept(transaction, found.request, key="check-1")

    cut.proxy.cut_next_commit()
    accepted = await cut.harness.unit_of_work().run(story)
    assert cut.proxy.cuts == 1
    seen = await cut.cases.seen(request.id)
    assert (seen.active_execution, seen.request.revision) == (accepted.id, request.revision + 1)
    assert [entry.kind for entry in await cut.harness.history(request.id)] == [
        AuditKind.REQUEST_CREATED,
        AuditKind.EVENT_ACCEPTED,
    ]


async def test_connections_that_were_cut_off_while_idle_are_replaced(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    claimed = await cases.claimed()
    await harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS)
    cut_off = await harness.rows(
        b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        b" WHERE datname = current_database() AND usename = 'orchestrator_test_runtime'"
    )
    assert len(cut_off) >= 3
    renewed = await harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS)
    assert renewed.held == {claimed.execution.id}
    await harness.queue().checkpoint(
        claimed.fence, [write_of(checkpoint_of(claimed.execution.id), cases.identifiers)]
    )
    assert (await cases.seen(claimed.request.id)).active_execution == claimed.execution.id


async def test_a_story_whose_connection_breaks_is_told_again_from_the_start(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    request = await cases.request()
    tries: list[int] = []

    async def story(transaction: Transaction) -> Execution:
        tries.append(1)
        if len(tries) == 1:
            await harness.rows(
                b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                b" AND usename = 'orchestrator_test_runtime' AND state = 'idle in transaction'"
            )
        return await cases.accept(transaction, request, key="check-1")

    accepted = await harness.unit_of_work().run(story)
    assert (await cases.seen(request.id)).active_execution == accepted.id
    assert tries == [1, 1]


async def test_a_server_that_stays_away_is_told_after_a_bounded_number_of_tries() -> None:
    settings = ConnectionSettings(url="postgresql://nobody@127.0.0.1:1/nowhere", connect_timeout_seconds=1)
    tries: list[int] = []

    async def story(transaction: Transaction) -> None:
        tries.append(1)

    async with PostgresEngine(settings, connections_min=0, checkout_timeout_seconds=0.2) as engine:
        with pytest.raises(StorageUnavailable):
            await PostgresUnitOfWork(engine).run(story)
    assert not tries
    async with PostgresExecutionQueue(settings, SequentialIdentifiers()) as queue:
        with pytest.raises(StorageUnavailable):
            await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)


async def test_a_pool_that_has_nothing_free_says_so_in_time(harness: PostgresHarness) -> None:
    async with PostgresEngine(harness.settings, connections_max=1, checkout_timeout_seconds=0.05) as engine:

        async def inner(transaction: Transaction) -> None:
            await transaction.flows.list_versions()

        async def outer(transaction: Transaction) -> None:
            await transaction.flows.list_versions()
            await PostgresUnitOfWork(engine).run(inner)

        with pytest.raises(StorageUnavailable):
            await PostgresUnitOfWork(engine).run(outer)


async def test_a_session_that_may_only_read_is_given_up(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    await cases.claimed()
    await harness.superuser.execute(
        b"ALTER ROLE orchestrator_test_runtime IN DATABASE "
        + harness.database.name.encode()
        + b" SET default_transaction_read_only = on"
    )
    async with PostgresExecutionQueue(harness.settings, SequentialIdentifiers()) as queue:
        with pytest.raises(StorageUnavailable):
            await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
        await harness.superuser.execute(
            b"ALTER ROLE orchestrator_test_runtime IN DATABASE "
            + harness.database.name.encode()
            + b" RESET default_transaction_read_only"
        )
        assert not await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
