"""Each check, key and reference of the schema refuses what it is there for."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.errors import CheckViolation, ForeignKeyViolation, NotNullViolation, UniqueViolation
from psycopg.types.json import Jsonb
from tests.migrations.rows import EXECUTION_ID, HASH, REQUEST_ID, UNKNOWN_ID, Columns, insert, insert_all
from tests.plugins.migrated_database import TestDatabase

OTHER = UNKNOWN_ID


@pytest.fixture
def runtime(database: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the runtime role to a database with one row in each table; nothing of it is committed."""
    with psycopg.connect(database.runtime_url) as connection:
        insert_all(connection)
        yield connection
        connection.rollback()


CHECKS: list[tuple[str, Columns, str]] = [
    ("flow_definition", {"id": OTHER, "version": 0}, "flow_definition_version_check"),
    ("flow_definition", {"id": OTHER, "definition": Jsonb([])}, "flow_definition_definition_check"),
    ("flow_definition", {"id": OTHER, "contracts": Jsonb({})}, "flow_definition_contracts_check"),
    ("flow_definition", {"id": OTHER, "checksum": "XYZ"}, "flow_definition_checksum_check"),
    ("flow_definition", {"id": OTHER, "schema_version": 0}, "flow_definition_schema_version_check"),
    ("flow_definition", {"id": OTHER, "revision": -1}, "flow_definition_revision_check"),
    ("request_type", {"type_key": "OTHER", "revision": -1}, "request_type_revision_check"),
    ("request_instance", {"id": OTHER, "data": Jsonb([])}, "request_instance_data_check"),
    ("request_instance", {"id": OTHER, "initial_data": Jsonb(1)}, "request_instance_initial_data_check"),
    ("request_instance", {"id": OTHER, "revision": -1}, "request_instance_revision_check"),
    ("request_instance", {"id": OTHER, "audit_sequence": -1}, "request_instance_audit_sequence_check"),
    ("request_instance", {"id": OTHER, "audit_head": "x"}, "request_instance_audit_head_check"),
    ("execution", {"id": OTHER, "status": "DONE"}, "execution_status_check"),
    ("execution", {"id": OTHER, "payload_hash": "x"}, "execution_payload_hash_check"),
    ("execution", {"id": OTHER, "actor_snapshot": Jsonb([])}, "execution_actor_snapshot_check"),
    ("execution", {"id": OTHER, "event_data": Jsonb("x")}, "execution_event_data_check"),
    ("execution", {"id": OTHER, "attempts": -1}, "execution_attempts_check"),
    ("execution", {"id": OTHER, "fencing_token": -1}, "execution_fencing_token_check"),
    ("execution", {"id": OTHER, "claims_without_progress": -1}, "execution_claims_without_progress_check"),
    ("execution", {"id": OTHER, "accepted_revision": -1}, "execution_accepted_revision_check"),
    ("execution", {"id": OTHER, "status": "RUNNING"}, "execution_running_is_leased"),
    ("action_execution", {"id": OTHER, "status": "DONE"}, "action_execution_status_check"),
    ("action_execution", {"id": OTHER, "attempt_count": -1}, "action_execution_attempt_count_check"),
    ("action_execution", {"id": OTHER, "input_hash": "x"}, "action_execution_input_hash_check"),
    ("action_execution", {"id": OTHER, "effect": "HARMLESS"}, "action_execution_effect_check"),
    ("document_reference", {"id": OTHER, "size_bytes": -1}, "document_reference_size_bytes_check"),
    ("audit_entry", {"id": OTHER, "sequence": 0}, "audit_entry_sequence_check"),
    ("audit_entry", {"id": OTHER, "detail": Jsonb([])}, "audit_entry_detail_check"),
    ("audit_entry", {"id": OTHER, "detail_hash": "x"}, "audit_entry_detail_hash_check"),
    ("audit_entry", {"id": OTHER, "head": "x"}, "audit_entry_head_check"),
    ("audit_entry", {"id": OTHER, "detail": None}, "audit_entry_erased_whole"),
    ("admin_audit", {"detail": Jsonb([])}, "admin_audit_detail_check"),
    (
        "request_creation",
        {"idempotency_key": "create-2", "payload_hash": "x"},
        "request_creation_payload_hash_check",
    ),
    (
        "reconciliation_resolution",
        {"id": OTHER, "resolution": "FORGET"},
        "reconciliation_resolution_resolution_check",
    ),
    (
        "reconciliation_resolution",
        {"id": OTHER, "evidence": Jsonb([])},
        "reconciliation_resolution_evidence_check",
    ),
    (
        "reconciliation_resolution",
        {"id": OTHER, "payload_hash": "x"},
        "reconciliation_resolution_payload_hash_check",
    ),
]


@pytest.mark.parametrize(("table", "changes", "constraint"), CHECKS)
def test_a_check_refuses_the_row(
    runtime: psycopg.Connection[Any], table: str, changes: Columns, constraint: str
) -> None:
    with pytest.raises(CheckViolation) as refused:
        insert(runtime, table, changes)
    assert refused.value.diag.constraint_name == constraint


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("status = 'LIVE', checksum = repeat('a', 64), published_at = now()", "flow_definition_status_check"),
        (
            "status = 'PUBLISHED', checksum = NULL, published_at = now()",
            "flow_definition_published_is_sealed",
        ),
        (
            "status = 'PUBLISHED', checksum = repeat('a', 64), published_at = NULL",
            "flow_definition_published_is_sealed",
        ),
    ],
)
def test_a_check_refuses_what_a_draft_may_not_become(
    runtime: psycopg.Connection[Any], change: str, constraint: str
) -> None:
    insert(runtime, "flow_definition", {"id": OTHER, "version": 2})
    with pytest.raises(CheckViolation) as refused:
        runtime.execute(f"UPDATE orchestrator.flow_definition SET {change} WHERE version = 2".encode())
    assert refused.value.diag.constraint_name == constraint


KEYS: list[tuple[str, Columns, str]] = [
    ("flow_definition", {"id": OTHER}, "flow_definition_flow_key_version_key"),
    ("request_type", {}, "request_type_pkey"),
    (
        "execution",
        {"id": OTHER, "status": "SUCCEEDED"},
        "execution_request_id_idempotency_key_key",
    ),
    *(
        (
            "execution",
            {
                "id": OTHER,
                "idempotency_key": "check-2",
                "status": status,
                "lease_owner": "worker",
                "lease_until": "2030-01-01T00:00:00Z",
            },
            "uq_request_active_execution",
        )
        for status in ("PENDING", "RUNNING", "RETRY_WAIT", "RECONCILIATION_REQUIRED")
    ),
    ("action_execution", {"id": OTHER}, "action_execution_execution_id_action_id_key"),
    (
        "document_reference",
        {"id": OTHER},
        "document_reference_request_id_document_type_storage_documen_key",
    ),
    ("audit_entry", {"id": OTHER}, "audit_entry_request_id_sequence_key"),
    ("request_creation", {"request_id": OTHER}, "request_creation_pkey"),
    ("request_creation", {"idempotency_key": "create-2"}, "request_creation_request_id_key"),
    (
        "reconciliation_resolution",
        {"id": OTHER},
        "reconciliation_resolution_execution_id_idempotency_key_key",
    ),
]


@pytest.mark.parametrize(("table", "changes", "key"), KEYS)
def test_a_key_is_taken_once(
    runtime: psycopg.Connection[Any], table: str, changes: Columns, key: str
) -> None:
    with pytest.raises(UniqueViolation) as refused:
        insert(runtime, table, changes)
    assert refused.value.diag.constraint_name == key


@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_an_ended_execution_does_not_block_the_next_one(
    runtime: psycopg.Connection[Any], status: str
) -> None:
    runtime.execute("UPDATE orchestrator.execution SET status = %s", [status])
    insert(runtime, "execution", {"id": OTHER, "idempotency_key": "check-2"})


REFERENCES: list[tuple[str, Columns, str]] = [
    (
        "request_type",
        {"type_key": "OTHER", "active_flow_id": UNKNOWN_ID},
        "request_type_active_flow_id_fkey",
    ),
    ("request_instance", {"id": OTHER, "type_key": "UNKNOWN"}, "request_instance_type_key_fkey"),
    ("request_instance", {"id": OTHER, "flow_id": UNKNOWN_ID}, "request_instance_flow_id_fkey"),
    ("execution", {"id": OTHER, "request_id": UNKNOWN_ID}, "execution_request_id_fkey"),
    ("action_execution", {"id": OTHER, "execution_id": UNKNOWN_ID}, "action_execution_execution_id_fkey"),
    ("document_reference", {"id": OTHER, "request_id": UNKNOWN_ID}, "document_reference_request_id_fkey"),
    ("audit_entry", {"id": OTHER, "request_id": UNKNOWN_ID}, "audit_entry_request_id_fkey"),
    (
        "audit_entry",
        {"id": OTHER, "sequence": 2, "execution_id": UNKNOWN_ID},
        "audit_entry_execution_id_fkey",
    ),
    ("audit_entry", {"id": OTHER, "sequence": 2, "flow_id": UNKNOWN_ID}, "audit_entry_flow_id_fkey"),
    ("admin_audit", {"flow_id": UNKNOWN_ID}, "admin_audit_flow_id_fkey"),
    ("admin_audit", {"type_key": "UNKNOWN"}, "admin_audit_type_key_fkey"),
    (
        "reconciliation_resolution",
        {"id": OTHER, "execution_id": UNKNOWN_ID},
        "reconciliation_resolution_execution_id_fkey",
    ),
]


@pytest.mark.parametrize(("table", "changes", "reference"), REFERENCES)
def test_a_reference_needs_its_row(
    runtime: psycopg.Connection[Any], table: str, changes: Columns, reference: str
) -> None:
    with pytest.raises(ForeignKeyViolation) as refused:
        insert(runtime, table, changes)
    assert refused.value.diag.constraint_name == reference


def test_a_creation_may_be_reserved_before_its_request_but_not_committed_without_it(
    runtime: psycopg.Connection[Any],
) -> None:
    insert(runtime, "request_creation", {"idempotency_key": "create-2", "request_id": UNKNOWN_ID})
    with pytest.raises(ForeignKeyViolation) as refused:
        runtime.commit()
    assert refused.value.diag.constraint_name == "request_creation_request_id_fkey"


def test_a_checkpoint_of_which_no_effect_is_known_counts_as_the_most_dangerous(
    runtime: psycopg.Connection[Any],
) -> None:
    row = runtime.execute("SELECT effect, uncertain FROM orchestrator.action_execution").fetchone()
    assert row == ("NON_IDEMPOTENT_WRITE", False)


def test_history_can_not_be_kept_without_a_flow(runtime: psycopg.Connection[Any]) -> None:
    with pytest.raises(NotNullViolation):
        insert(runtime, "audit_entry", {"id": OTHER, "sequence": 2, "flow_id": None})


def test_the_rows_of_these_tests_are_accepted_as_they_are(runtime: psycopg.Connection[Any]) -> None:
    insert(runtime, "audit_entry", {"id": OTHER, "sequence": 2, "execution_id": EXECUTION_ID, "head": HASH})
    row = runtime.execute("SELECT count(*) FROM orchestrator.audit_entry WHERE request_id = %s", [REQUEST_ID])
    assert row.fetchone() == (2,)
