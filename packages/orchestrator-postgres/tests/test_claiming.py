"""Claims of several claimers at once, and what serves them."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.poison import CLAIMS_WITHOUT_PROGRESS_MAX
from orchestrator_domain.identifiers import ExecutionId, LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.stored_cases import (
    LEASE_SECONDS,
    OTHER_WORKER,
    WORKER,
    StoredCases,
)
from orchestrator_domain.testing.examples import checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.fault_translation import StorageRefused
from orchestrator_postgres.row_mapping import Row


async def _claim(harness: PostgresHarness, owner: LeaseOwner, limit: int) -> Sequence[ClaimedExecution]:
    return await harness.queue().claim(owner=owner, limit=limit, lease_seconds=LEASE_SECONDS)


async def test_claimers_at_once_never_take_one_execution_twice(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    accepted = {(await cases.accepted()).id for _ in range(12)}
    start = asyncio.Barrier(4)

    async def claimer(number: int) -> list[ExecutionId]:
        await start.wait()
        claims = [await _claim(harness, LeaseOwner(f"worker-{number}"), 2) for _ in range(3)]
        return [one.execution.id for claim in claims for one in claim]

    taken = [one for claimer in await asyncio.gather(*map(claimer, range(4))) for one in claimer]
    left = [one.execution.id for one in await _claim(harness, WORKER, 12)]
    assert sorted([*taken, *left]) == sorted(accepted)


async def test_a_claim_passes_over_what_another_transaction_holds(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    busy, free = (await cases.accepted()).id, (await cases.accepted()).id
    async with harness.superuser.transaction():
        await harness.rows(b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", busy)
        assert [one.execution.id for one in await _claim(harness, WORKER, 2)] == [free]
    assert [one.execution.id for one in await _claim(harness, WORKER, 2)] == [busy]


async def test_a_claim_sees_the_last_checkpoint_of_the_old_owner(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    first = await cases.claimed()
    start = write_of(checkpoint_of(first.execution.id), cases.identifiers)
    await harness.queue().checkpoint(first.fence, [start])
    await harness.expire_lease(first.execution.id)
    (second,) = await _claim(harness, OTHER_WORKER, 1)
    assert [(one.status, one.attempts) for one in second.checkpoints] == [(CheckpointStatus.RUNNING, 1)]


async def test_a_row_that_can_not_be_read_fails_alone(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    broken, healthy = (await cases.accepted()).id, (await cases.accepted()).id
    await _break(harness, broken)
    told: list[ExecutionId] = []
    async with PostgresExecutionQueue(
        harness.settings, SequentialIdentifiers(), unreadable=told.append
    ) as queue:
        claimed = await queue.claim(owner=WORKER, limit=2, lease_seconds=LEASE_SECONDS)
    assert [one.execution.id for one in claimed] == [healthy]
    assert told == [broken]


async def test_ten_thousand_older_rows_that_can_not_be_read_keep_no_healthy_one_waiting(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    flow = await cases.active_flow()
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"SET LOCAL session_replication_role = replica")
        for statement in _UNREADABLE:
            await harness.superuser.execute(statement, {"flow": flow.id, "rows": 10_000})
    healthy = (await cases.accepted()).id
    claimed = await _claim(harness, WORKER, 200)
    assert [one.execution.id for one in claimed] == [healthy]
    (left,) = await harness.rows(
        b"SELECT count(*) AS rows FROM orchestrator.execution WHERE status = 'PENDING'"
    )
    assert left["rows"] == 0


async def test_a_row_that_stays_unreadable_ends_with_an_operator(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    broken = await cases.accepted()
    await _break(harness, broken.id)
    statuses: list[Row] = []
    for _ in range(CLAIMS_WITHOUT_PROGRESS_MAX + 1):
        assert not await _claim(harness, WORKER, 1)
        statuses += await harness.rows(b"SELECT status FROM orchestrator.execution WHERE id = %s", broken.id)
        await harness.superuser.execute(
            b"UPDATE orchestrator.execution SET lease_until = clock_timestamp() - interval '1 second'"
            b" WHERE id = %s AND status = 'RUNNING'",
            [broken.id],
        )
    (row,) = await harness.rows(
        b"SELECT status, error_code FROM orchestrator.execution WHERE id = %s", broken.id
    )
    assert [each["status"] for each in statuses[:-1]] == ["RUNNING"] * CLAIMS_WITHOUT_PROGRESS_MAX
    assert (row["status"], row["error_code"]) == ("RECONCILIATION_REQUIRED", "EXECUTION_UNREADABLE")
    assert [entry.kind for entry in await harness.history(broken.request_id)][-1] == "RECONCILIATION_REQUIRED"


async def test_rows_that_can_not_be_read_are_not_walked_over_again_and_again_in_one_claim(
    harness: PostgresHarness,
) -> None:
    broken = await StoredCases(harness=harness).accepted()
    await _break(harness, broken.id)
    # Whatever is left to this lease is due again at once.
    async with asyncio.timeout(30):
        assert not await harness.queue().claim(owner=WORKER, limit=1, lease_seconds=0.000_001)
    (row,) = await harness.rows(b"SELECT status FROM orchestrator.execution WHERE id = %s", broken.id)
    assert row["status"] == "RUNNING"


async def test_a_poison_whose_request_somebody_holds_keeps_nothing_waiting_that_was_claimed_with_it(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    broken, healthy = await cases.accepted(), await cases.accepted()
    await _break(harness, broken.id)
    await harness.superuser.execute(
        b"UPDATE orchestrator.execution SET claims_without_progress = %s WHERE id = %s",
        [CLAIMS_WITHOUT_PROGRESS_MAX, broken.id],
    )
    async with harness.superuser.transaction():
        await harness.rows(
            b"SELECT FROM orchestrator.request_instance WHERE id = %s FOR UPDATE", broken.request_id
        )
        async with asyncio.timeout(30):
            claimed = await _claim(harness, WORKER, 2)
    assert [one.execution.id for one in claimed] == [healthy.id]


async def test_a_claim_that_can_not_be_read_leaves_everything_as_it_was(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    accepted = await cases.accepted()
    await harness.superuser.execute(
        b"REVOKE SELECT ON orchestrator.flow_definition FROM orchestrator_runtime"
    )
    with pytest.raises(StorageRefused):
        await _claim(harness, WORKER, 1)
    (row,) = await harness.rows(
        b"SELECT status, fencing_token FROM orchestrator.execution WHERE id = %s", accepted.id
    )
    assert (row["status"], row["fencing_token"]) == ("PENDING", 0)


async def test_claims_that_could_not_be_read_leave_nothing_behind_on_their_connection(
    harness: PostgresHarness,
) -> None:
    cases = StoredCases(harness=harness)
    accepted = await cases.accepted()
    refused = b"ON orchestrator.flow_definition FROM orchestrator_runtime"
    async with PostgresExecutionQueue(
        harness.settings, SequentialIdentifiers(seed=8), connections_max=1
    ) as queue:
        await harness.superuser.execute(b"REVOKE SELECT " + refused)
        # As often as it takes psycopg to prepare the statements.
        for _ in range(8):
            with pytest.raises(StorageRefused):
                await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
        await harness.superuser.execute(b"GRANT SELECT " + refused.replace(b"FROM", b"TO"))
        (claimed,) = await queue.claim(owner=WORKER, limit=1, lease_seconds=LEASE_SECONDS)
    assert claimed.execution.id == accepted.id


async def test_what_was_held_while_others_were_claimed_is_found_again(harness: PostgresHarness) -> None:
    cases = StoredCases(harness=harness)
    oldest = await cases.accepted()
    await harness.superuser.execute(
        b"UPDATE orchestrator.execution SET next_attempt_at = clock_timestamp() - interval '1 day'"
    )
    for _ in range(3):
        await cases.accepted()
    async with harness.superuser.transaction():
        await harness.rows(b"SELECT FROM orchestrator.execution WHERE id = %s FOR UPDATE", oldest.id)
        for _ in range(3):
            assert await _claim(harness, WORKER, 1)
    async with asyncio.timeout(60):
        while not (found := await _claim(harness, WORKER, 1)):
            pass
    assert [one.execution.id for one in found] == [oldest.id]


async def _break(harness: PostgresHarness, execution_id: ExecutionId) -> None:
    await harness.superuser.execute(
        b"UPDATE orchestrator.execution SET actor_snapshot = '{}' WHERE id = %s", [execution_id]
    )


_UNREADABLE = (
    b"""
    INSERT INTO orchestrator.request_instance
      (id, type_key, flow_id, current_state, owner_subject, business_scope)
    SELECT gen_random_uuid(), 'LENDING', %(flow)s, 'OPEN', 'clerk-1', 'NORTH' FROM generate_series(1, %(rows)s)
    """,
    b"""
    INSERT INTO orchestrator.execution
      (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
       transition_id, from_state, accepted_revision, status, next_attempt_at)
    SELECT
      gen_random_uuid(), id, 'key', repeat('0', 64), 'clerk-1', '{}', 'CHECK', '{}', 'check', 'OPEN', 1, 'PENDING',
      clock_timestamp() - interval '1 hour'
    FROM orchestrator.request_instance
    """,
)
