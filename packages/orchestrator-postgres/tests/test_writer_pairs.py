"""A renewal and a batch of completions, held in either order: whoever comes later waits, and neither deadlocks (race 10)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.plugins.flow_administration import waits_for_a_lock
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.identifiers import StateKey
from orchestrator_domain.ports.execution_queue import ClaimedExecution, Renewed
from orchestrator_domain.testing.contracts.fenced_writes import LENT, complete
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases

_COMMIT = 1001
_COMPLETIONS = "NEW.status = 'SUCCEEDED'"
_RENEWALS = (
    "NEW.status = 'RUNNING' AND OLD.lease_owner = NEW.lease_owner AND OLD.lease_until < NEW.lease_until"
)


@asynccontextmanager
async def commits_held(harness: PostgresHarness, condition: str) -> AsyncIterator[None]:
    """Hold the COMMIT of whoever updates an execution so, with everything locked that it has locked."""
    await harness.superuser.execute(
        f"""
        CREATE FUNCTION orchestrator.hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM pg_advisory_xact_lock_shared({_COMMIT});
          RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER hold_commit AFTER UPDATE ON orchestrator.execution
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION orchestrator.hold_commit();
        """.encode()
    )
    await harness.superuser.execute(b"SELECT pg_advisory_lock(%s)", (_COMMIT,))
    yield
    await harness.superuser.execute(b"SELECT pg_advisory_unlock(%s)", (_COMMIT,))


async def claimed_together(cases: StoredCases, count: int) -> list[ClaimedExecution]:
    for _ in range(count):
        await cases.accepted()
    queue = cases.harness.queue()
    return [*await queue.claim(owner=WORKER, limit=count, lease_seconds=LEASE_SECONDS)]


def completions(cases: StoredCases, claimed: list[ClaimedExecution]) -> list[asyncio.Task[None]]:
    """Begin all completions at one moment, so that they share a batch."""
    return [asyncio.create_task(complete(cases, one, one.fence, [])) for one in claimed]


def renewal(harness: PostgresHarness, claimed: list[ClaimedExecution]) -> asyncio.Task[Renewed]:
    renewing = harness.queue().renew(fences=[one.fence for one in claimed], lease_seconds=LEASE_SECONDS)
    return asyncio.create_task(renewing)


async def states(cases: StoredCases, claimed: list[ClaimedExecution]) -> list[StateKey]:
    return [(await cases.seen(one.request.id)).request.state for one in claimed]


async def test_a_renewal_that_meets_a_batch_of_completions_waits_and_finds_them_given_back(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    *done, running = await claimed_together(cases, 4)
    async with commits_held(harness, _COMPLETIONS):
        completing = completions(cases, done)
        await waits_for_a_lock(harness)
        renewing = renewal(harness, [*done, running])
        await waits_for_a_lock(harness, how_many=2)
    await asyncio.gather(*completing)
    renewed = await renewing
    assert renewed.held == {running.execution.id}
    assert renewed.given_back == {one.execution.id for one in done}
    assert await states(cases, done) == [LENT.state] * 3


async def test_a_batch_of_completions_that_meets_a_renewal_waits_and_is_written(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    claimed = await claimed_together(cases, 3)
    async with commits_held(harness, _RENEWALS):
        renewing = renewal(harness, claimed)
        await waits_for_a_lock(harness)
        completing = completions(cases, claimed)
        await waits_for_a_lock(harness, how_many=2)
    assert (await renewing).held == {one.execution.id for one in claimed}
    await asyncio.gather(*completing)
    assert await states(cases, claimed) == [LENT.state] * 3
