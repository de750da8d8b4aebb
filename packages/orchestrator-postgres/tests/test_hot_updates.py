"""Which updates write no index entry (heap-only tuples), and what keeps the others from being so.

PostgreSQL counts both kinds for each session and transaction, so each write here has a session of its own, and its
counters are read before its transaction ends: nothing that others do is counted.
"""

from collections.abc import Awaitable, Callable, Sequence
from itertools import batched

import pytest
from attrs import evolve, frozen
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import StateKey
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, WORKER, StoredCases
from orchestrator_domain.testing.examples import checkpoint_of, write_of
from orchestrator_postgres.claim import claim_due
from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.engine import StoreConnection, connect
from orchestrator_postgres.fenced_write import Ending, FencedWrite, Transitioned
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.unit_of_work import PostgresTransaction
from orchestrator_postgres.write_batch import carry_out_together

type _Write = Callable[[StoreConnection], Awaitable[object]]

_RENEW = sql_file("renew_leases")
_COUNTERS = b"""
SELECT pg_stat_get_xact_tuples_updated(oid) AS updated, pg_stat_get_xact_tuples_hot_updated(oid) AS heap_only
FROM pg_class WHERE oid = ('orchestrator.' || %(table)s)::regclass
"""
_COLUMNS_OF_INDEXES = b"""
SELECT DISTINCT columns.attname AS name
FROM pg_index
JOIN pg_depend ON pg_depend.objid = pg_index.indexrelid AND pg_depend.refobjid = pg_index.indrelid
JOIN pg_attribute AS columns
  ON columns.attrelid = pg_index.indrelid AND columns.attnum = pg_depend.refobjsubid
WHERE pg_index.indrelid = 'orchestrator.execution'::regclass
"""


@pytest.fixture(autouse=True)
def _nobody_analyzes(harness: PostgresHarness) -> None:
    """Keep autovacuum away: while it looks at one table, what is dead in the others stays, and so finds no room again."""
    tables = harness.database.execute(
        "SELECT oid::regclass FROM pg_class WHERE relnamespace = 'orchestrator'::regnamespace AND relkind = 'r'"
    )
    for (table,) in tables:
        harness.database.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")


@frozen
class _Updates:
    """How many rows a transaction updated, and how many of them without an index entry."""

    all: int
    heap_only: int


async def _updates(harness: PostgresHarness, table: str, write: _Write) -> _Updates:
    settings = evolve(harness.settings, makes_whole_trips=True)
    async with await connect(settings) as connection, connection.transaction():
        await write(connection)
        row = await (await connection.execute(_COUNTERS, {"table": table})).fetchone()
    assert row is not None
    return _Updates(row["updated"], row["heap_only"])


async def _claimed(cases: StoredCases, count: int) -> Sequence[ClaimedExecution]:
    for _ in range(count):
        await cases.accepted()
    return await cases.harness.queue().claim(owner=WORKER, limit=count, lease_seconds=LEASE_SECONDS)


def _starts(cases: StoredCases, claimed: Sequence[ClaimedExecution]) -> _Write:
    writes = [
        FencedWrite(
            fence=one.fence, checkpoints=(write_of(checkpoint_of(one.execution.id), cases.identifiers),)
        )
        for one in claimed
    ]
    return lambda connection: carry_out_together(connection, writes)


def _successes(cases: StoredCases, claimed: Sequence[ClaimedExecution]) -> _Write:
    writes = [
        FencedWrite(
            fence=one.fence,
            checkpoints=(
                write_of(
                    checkpoint_of(
                        one.execution.id, status=CheckpointStatus.SUCCEEDED, result={"found": True}
                    ),
                    cases.identifiers,
                    before=(CheckpointStatus.RUNNING, 1),
                ),
            ),
        )
        for one in claimed
    ]
    return lambda connection: carry_out_together(connection, writes)


def _ending(cases: StoredCases, claimed: ClaimedExecution, *, state: str | None) -> _Write:
    """Complete into the state, or park without one."""
    kind = AuditKind.ACTION_RETRY_SCHEDULED if state is None else AuditKind.TRANSITION_COMPLETED
    ending = Ending(
        status=ExecutionStatus.RETRY_WAIT if state is None else ExecutionStatus.SUCCEEDED,
        fact=cases.fact(claimed.request, kind, claimed.execution.id),
        delay_seconds=3600.0 if state is None else None,
        transitioned=None
        if state is None
        else Transitioned(state=StateKey(state), data={"item": "saw"}, documents=(), succeeded=()),
    )
    write = FencedWrite(fence=claimed.fence, checkpoints=(), ending=ending)
    return lambda connection: carry_out_together(connection, [write])


async def test_the_checkpoints_of_a_batch_move_on_without_an_index_entry(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    claimed = await _claimed(cases, 60)
    assert await _updates(harness, "action_execution", _starts(cases, claimed)) == _Updates(0, 0)
    assert await _updates(harness, "action_execution", _successes(cases, claimed)) == _Updates(60, 60)


async def test_acceptances_move_their_requests_on_without_an_index_entry(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    requests = [await cases.request() for _ in range(60)]
    for batch in batched(requests, 10):

        async def accept(connection: StoreConnection, batch: Sequence[Request] = batch) -> None:
            for request in batch:
                await cases.accept(PostgresTransaction(connection), request, key="check-1")

        assert await _updates(harness, "request_instance", accept) == _Updates(10, 10)


@pytest.mark.parametrize("state", [None, "OPEN"], ids=["a parked run", "a transition into the same state"])
async def test_what_leaves_the_state_of_a_request_writes_no_index_entry(
    harness: PostgresHarness, state: str | None
) -> None:
    cases = StoredCases(harness=harness)
    write = _ending(cases, await cases.claimed(), state=state)
    assert await _updates(harness, "request_instance", write) == _Updates(1, 1)


async def test_the_progress_of_a_run_moves_its_execution_on_without_an_index_entry(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    write = _starts(cases, [await cases.claimed()])
    assert await _updates(harness, "execution", write) == _Updates(1, 1)


async def test_claims_renewals_and_ends_can_not_be_so_for_their_columns_are_in_the_indexes(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    await cases.accepted()

    async def claim(connection: StoreConnection) -> None:
        await claim_due(connection, ClaimHorizon(), owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)

    assert await _updates(harness, "execution", claim) == _Updates(1, 0)
    await harness.superuser.execute(b"UPDATE orchestrator.execution SET status = 'PENDING'")
    claimed = await cases.claim()
    fence = claimed.fence

    async def renew(connection: StoreConnection) -> None:
        held = {
            "execution_ids": [fence.execution_id],
            "request_ids": [fence.request_id],
            "owners": [fence.owner],
            "tokens": [fence.token],
            "lease_seconds": LEASE_SECONDS,
        }
        await connection.execute(_RENEW, held)

    assert await _updates(harness, "execution", renew) == _Updates(1, 0)
    assert await _updates(harness, "execution", _ending(cases, claimed, state="LENT")) == _Updates(1, 0)
    assert {row["name"] for row in await harness.rows(_COLUMNS_OF_INDEXES)} >= {
        "status",
        "next_attempt_at",
        "lease_until",
    }
