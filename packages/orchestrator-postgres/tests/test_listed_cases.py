"""What operators list is found among active executions alone, however many have ended."""

import re

from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.testing.contracts.reconciliation_store_contract import HERE, listed, stopped
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_postgres.statements import sql_file

_END_MANY = b"""
    INSERT INTO orchestrator.execution (
      id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
      transition_id, from_state, accepted_revision, status
    )
    SELECT gen_random_uuid(), request_id, 'ended-' || number, payload_hash, actor_subject, actor_snapshot,
      event_key, event_data, transition_id, from_state, accepted_revision, 'SUCCEEDED'
    FROM orchestrator.execution, generate_series(1, 20000) AS number
"""


async def test_a_list_of_cases_never_reads_what_has_ended(harness: PostgresHarness) -> None:
    execution = await stopped(StoredCases(harness=harness))
    await harness.superuser.execute(_END_MANY)
    await harness.superuser.execute(b"VACUUM (ANALYZE) orchestrator.execution")
    statement = re.sub(r"%\(\w+\)s", "NULL", sql_file("list_cases").decode())
    plan = "\n".join(
        row["QUERY PLAN"] for row in await harness.rows(f"EXPLAIN {_readable(statement)}".encode())
    )
    assert "using uq_request_active_execution on execution" in plan
    assert "Seq Scan on execution" not in plan
    assert [case.execution.id for case in await listed(harness, HERE)] == [execution.id]


def _readable(statement: str) -> str:
    """Give values that a planner takes, in place of the ones that say nothing."""
    named = statement.replace("execution.status = NULL", "execution.status = 'RECONCILIATION_REQUIRED'")
    return named.replace("ANY (NULL)", "ANY ('{NORTH}')").replace("LIMIT NULL", "LIMIT 101")
