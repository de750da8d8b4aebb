"""How PostgreSQL finds the rows of the hot statements: by key, on a database whose statistics know of no row."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from uuid import uuid4

import pytest
from attrs import evolve, fields
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.postgres_server import PostgresServer

from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_postgres.batch_statements import WHOLE_OR_NOTHING, BatchStatements
from orchestrator_postgres.engine import connect
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.write_batch import ALL_FREE

HOT_STATEMENTS = {
    "add_checkpoints": {"execution_pkey"},
    "add_executions": {"request_instance_pkey"},
    "advance_requests": {"request_instance_pkey", "execution_pkey"},
    "claim_mark": {"ix_execution_due", "ix_execution_lease", "execution_pkey"},
    "claim_read": {"execution_pkey", "request_instance_pkey", "flow_definition_pkey"},
    "end_executions": {"execution_pkey"},
    "executions_by_key": {"execution_request_id_idempotency_key_key"},
    "keep_executions": {"execution_pkey", "request_instance_pkey"},
    "link_documents": {"execution_pkey"},
    "lock_execution": {"execution_pkey"},
    "lock_free_executions": {"execution_pkey"},
    "lock_free_requests": {"request_instance_pkey"},
    "lock_free_visible_requests": {"request_instance_pkey"},
    "lock_request": {"request_instance_pkey"},
    "stored_successes": {"action_execution_execution_id_action_id_key"},
    "read_checkpoints": {"action_execution_execution_id_action_id_key"},
    "read_fences": {"execution_pkey", "request_instance_pkey"},
    "read_outcome": {"execution_pkey"},
    "read_visible_requests": {
        "request_instance_pkey",
        "flow_definition_pkey",
        "uq_request_active_execution",
        "ix_audit_erasure",
    },
    "replace_checkpoints": {"execution_pkey", "action_execution_execution_id_action_id_key"},
}


# What a batch is sent as: the same lookups, counted by the server.
BATCH_STATEMENTS = {
    **{name: getattr(WHOLE_OR_NOTHING, name) for name in HOT_STATEMENTS if hasattr(WHOLE_OR_NOTHING, name)},
    "lock_free_requests": ALL_FREE.requests,
    "lock_free_executions": ALL_FREE.executions,
}


async def _plan(harness: PostgresHarness, statement: bytes) -> str:
    """Return the plan that a queue's connection keeps for the statement, whatever its values are."""
    names: list[str] = []

    def numbered(found: re.Match[str]) -> str:
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    text = re.sub(r"%\((\w+)\)s", numbered, statement.decode())
    async with await connect(evolve(harness.settings, looks_rows_up=True)) as connection:
        cursor = await connection.execute(f"EXPLAIN (GENERIC_PLAN) {text}".encode())
        return "\n".join(row["QUERY PLAN"] for row in await cursor.fetchall())


def _indexes(plan: str) -> set[str]:
    return set(re.findall(r"(?:using|on) (\w+_pkey|[iu][xq]_\w+|\w+_key)\b", plan))


@pytest.fixture(scope="module")
def plans(postgres_server: PostgresServer, migrated_template: str) -> Iterator[Mapping[bytes, str]]:
    """The plan of each statement on one database that has been filled; a plan that is only explained changes nothing."""
    name = f"orchestrator_test_{uuid4().hex[:16]}"
    filled = TestDatabase(superuser_url=postgres_server.create_database(name, template=migrated_template))
    yield asyncio.run(_plans(filled))
    postgres_server.drop_database(name)


async def _plans(database: TestDatabase) -> Mapping[bytes, str]:
    statements = {*map(sql_file, HOT_STATEMENTS), *BATCH_STATEMENTS.values()}
    async with PostgresHarness(database) as harness:
        await _fill(harness)
        return {statement: await _plan(harness, statement) for statement in statements}


@pytest.mark.parametrize("statement", HOT_STATEMENTS)
def test_a_hot_statement_finds_its_rows_by_their_keys(plans: Mapping[bytes, str], statement: str) -> None:
    assert _indexes(plans[sql_file(statement)]) == HOT_STATEMENTS[statement]


def test_every_statement_of_a_batch_has_a_plan_that_is_looked_at() -> None:
    assert {each.name for each in fields(BatchStatements)} < set(BATCH_STATEMENTS)


@pytest.mark.parametrize("statement", BATCH_STATEMENTS)
def test_a_statement_that_fails_unless_it_is_whole_finds_its_rows_by_their_keys(
    plans: Mapping[bytes, str], statement: str
) -> None:
    assert _indexes(plans[BATCH_STATEMENTS[statement]]) == HOT_STATEMENTS[statement]


@pytest.mark.parametrize("analysed", [False, True], ids=["never analysed", "analysed while empty"])
# A claim is left out: its partial indexes are as good to walk through as to search while they are empty.
@pytest.mark.parametrize("statement", [name for name in HOT_STATEMENTS if name != "claim_mark"])
async def test_a_plan_that_was_made_while_tables_were_empty_walks_through_none_of_them(
    harness: PostgresHarness, statement: str, *, analysed: bool
) -> None:
    if analysed:
        await harness.superuser.execute(b"VACUUM (ANALYZE)")
    plan = await _plan(harness, sql_file(statement))
    assert "Seq Scan" not in plan
    assert plan.count("Index Cond: ") == len(re.findall(r"Index (?:Only )?Scan ", plan))


@pytest.mark.parametrize(
    ("index", "condition"),
    [
        ("ix_execution_due", r"\(ROW\(next_attempt_at, created_at\) >= .* AND \(next_attempt_at <= "),
        ("ix_execution_lease", r"\(lease_until >= .* AND \(lease_until <= "),
    ],
)
def test_a_claim_bounds_its_walk_over_each_partial_index_at_both_ends(
    plans: Mapping[bytes, str], index: str, condition: str
) -> None:
    plan = plans[sql_file("claim_mark")]
    assert re.search(rf"using {index} on .*\n\s+Index Cond: \({condition}", plan)


async def _fill(harness: PostgresHarness) -> None:
    """Store enough executions for statistics to speak of, most of them finished."""
    flow = await StoredCases(harness=harness).active_flow()
    async with harness.superuser.transaction():
        await harness.superuser.execute(b"SET LOCAL session_replication_role = replica")
        for statement in _FILLING:
            await harness.superuser.execute(statement, {"flow": flow.id})
    # A database that another test has used before holds entries of rows that are gone, which make an index look large.
    await harness.superuser.execute(b"VACUUM (ANALYZE)")


_FILLING = (
    b"""
    INSERT INTO orchestrator.request_instance
      (id, type_key, flow_id, current_state, owner_subject, business_scope)
    SELECT gen_random_uuid(), 'LENDING', %(flow)s, 'OPEN', 'clerk-1', 'NORTH' FROM generate_series(1, 3000)
    """,
    b"""
    INSERT INTO orchestrator.execution
      (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
       transition_id, from_state, accepted_revision, status)
    SELECT
      gen_random_uuid(), id, 'key', repeat('0', 64), 'clerk-1', '{}', 'CHECK', '{}', 'check', 'OPEN', 1,
      CASE WHEN row_number() OVER () <= 30 THEN 'PENDING' ELSE 'SUCCEEDED' END
    FROM orchestrator.request_instance
    """,
    b"""
    INSERT INTO orchestrator.audit_entry
      (id, request_id, sequence, kind, actor_subject, flow_id, detail, salt, detail_hash, head)
    SELECT
      gen_random_uuid(), id, number, 'EVENT_ACCEPTED', 'clerk-1', flow_id, '{}', repeat('0', 32), repeat('0', 64),
      repeat('0', 64)
    FROM orchestrator.request_instance, generate_series(1, 3) AS number
    """,
    b"""
    INSERT INTO orchestrator.action_execution
      (id, execution_id, action_id, status, external_idempotency_key, input_hash)
    SELECT gen_random_uuid(), id, 'lookup', 'SUCCEEDED', 'key', repeat('0', 64) FROM orchestrator.execution
    """,
    b"""
    INSERT INTO orchestrator.flow_definition
      (id, flow_key, version, status, schema_version, definition, created_by)
    SELECT gen_random_uuid(), 'OTHER', number, 'DRAFT', 1, '{}', 'clerk-1'
    FROM generate_series(1, 3000) AS number
    """,
)
