"""A row of each table, as statements, so that a test can break one thing at a time."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

FLOW_ID = UUID(int=1)
DRAFT_ID = UUID(int=2)
REQUEST_ID = UUID(int=3)
EXECUTION_ID = UUID(int=4)
CHECKPOINT_ID = UUID(int=5)
ENTRY_ID = UUID(int=6)
UNKNOWN_ID = UUID(int=99)
HASH = "a" * 64

type Columns = Mapping[str, Any]

ROWS: Mapping[str, Columns] = {
    "flow_definition": {
        "id": FLOW_ID,
        "flow_key": "LENDING",
        "version": 1,
        "status": "DRAFT",
        "schema_version": 1,
        "definition": Jsonb({"rate": 1}),
        "created_by": "editor",
    },
    "request_type": {"type_key": "LENDING", "active_flow_id": FLOW_ID},
    "request_instance": {
        "id": REQUEST_ID,
        "type_key": "LENDING",
        "flow_id": FLOW_ID,
        "current_state": "OPEN",
        "owner_subject": "clerk",
        "business_scope": "NORTH",
    },
    "execution": {
        "id": EXECUTION_ID,
        "request_id": REQUEST_ID,
        "idempotency_key": "check-1",
        "payload_hash": HASH,
        "actor_subject": "clerk",
        "actor_snapshot": Jsonb({}),
        "event_key": "CHECK",
        "event_data": Jsonb({}),
        "transition_id": "check",
        "from_state": "OPEN",
        "accepted_revision": 1,
        "status": "PENDING",
    },
    "action_execution": {
        "id": CHECKPOINT_ID,
        "execution_id": EXECUTION_ID,
        "action_id": "lookup",
        "status": "RUNNING",
        "external_idempotency_key": "key",
        "input_hash": HASH,
    },
    "document_reference": {
        "id": UUID(int=7),
        "request_id": REQUEST_ID,
        "document_type": "PHOTO",
        "storage_document_id": "photo-1",
        "mime_type": "image/png",
        "size_bytes": 1,
        "checksum": HASH,
        "created_by": "clerk",
    },
    "audit_entry": {
        "id": ENTRY_ID,
        "request_id": REQUEST_ID,
        "sequence": 1,
        "kind": "REQUEST_CREATED",
        "actor_subject": "clerk",
        "flow_id": FLOW_ID,
        "detail": Jsonb({"name": "somebody"}),
        "salt": "5" * 32,
        "detail_hash": HASH,
        "head": HASH,
    },
    "admin_audit": {"action": "FLOW_PUBLISHED", "actor_subject": "publisher", "flow_id": FLOW_ID},
    "request_creation": {
        "actor_subject": "clerk",
        "business_scope": "NORTH",
        "idempotency_key": "create-1",
        "payload_hash": HASH,
        "request_id": REQUEST_ID,
    },
    "reconciliation_resolution": {
        "id": UUID(int=8),
        "execution_id": EXECUTION_ID,
        "idempotency_key": "resolve-1",
        "payload_hash": HASH,
        "action_id": "lookup",
        "resolution": "RESUME_EFFECT_ABSENT",
        "evidence": Jsonb({"ticket": "T-1"}),
        "operator_subject": "operator",
    },
}


def insert(connection: psycopg.Connection[Any], table: str, changes: Columns | None = None) -> None:
    """Insert the table's row with some columns changed."""
    columns = {**ROWS[table], **(changes or {})}
    connection.execute(
        sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            sql.Identifier("orchestrator", table),
            sql.SQL(", ").join(map(sql.Identifier, columns)),
            sql.SQL(", ").join([sql.Placeholder()] * len(columns)),
        ),
        list(columns.values()),
    )


def insert_all(connection: psycopg.Connection[Any]) -> None:
    """Insert a row of each table and publish the flow version, which begins as a draft like every one."""
    for table in ROWS:
        insert(connection, table)
    connection.execute(
        "UPDATE orchestrator.flow_definition SET status = 'PUBLISHED', checksum = %s, published_at = %s",
        [HASH, "2030-01-01T00:00:00Z"],
    )
