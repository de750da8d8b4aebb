"""The tables that ordinary statements are built on; the migrations define them, a test holds the two together."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Integer,
    MetaData,
    String,
    Table,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB

from orchestrator_postgres.schema_revision import SCHEMA

METADATA = MetaData(schema=SCHEMA)

FLOW_DEFINITION = Table(
    "flow_definition",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("flow_key", String(100), nullable=False),
    Column("version", Integer, nullable=False),
    Column("status", String(20), nullable=False),
    Column("schema_version", Integer, nullable=False),
    Column("definition", JSONB, nullable=False),
    Column("checksum", String(64)),
    Column("contracts", JSONB, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("created_by", String(200), nullable=False),
    Column("published_at", DateTime(timezone=True)),
)

REQUEST_TYPE = Table(
    "request_type",
    METADATA,
    Column("type_key", String(100), primary_key=True),
    Column("active_flow_id", Uuid),
    Column("enabled", Boolean, nullable=False),
    Column("revision", BigInteger, nullable=False),
)

REQUEST_INSTANCE = Table(
    "request_instance",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("type_key", String(100), nullable=False),
    Column("flow_id", Uuid, nullable=False),
    Column("current_state", String(100), nullable=False),
    Column("data", JSONB, nullable=False),
    Column("initial_data", JSONB, nullable=False),
    Column("owner_subject", String(200), nullable=False),
    Column("business_scope", String(100), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("audit_sequence", BigInteger, nullable=False),
    Column("audit_head", String(64), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)

EXECUTION = Table(
    "execution",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("request_id", Uuid, nullable=False),
    Column("idempotency_key", String(200), nullable=False),
    Column("payload_hash", String(64), nullable=False),
    Column("actor_subject", String(200), nullable=False),
    Column("actor_snapshot", JSONB, nullable=False),
    Column("event_key", String(100), nullable=False),
    Column("event_data", JSONB, nullable=False),
    Column("transition_id", String(100), nullable=False),
    Column("from_state", String(100), nullable=False),
    Column("accepted_revision", BigInteger, nullable=False),
    Column("correlation_id", String(200)),
    Column("status", String(40), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("claims_without_progress", Integer, nullable=False),
    Column("next_attempt_at", DateTime(timezone=True), nullable=False),
    Column("lease_owner", String(200)),
    Column("lease_until", DateTime(timezone=True)),
    Column("fencing_token", BigInteger, nullable=False),
    Column("result", JSONB),
    Column("error_code", String(100)),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
)

AUDIT_ENTRY = Table(
    "audit_entry",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("request_id", Uuid, nullable=False),
    Column("execution_id", Uuid),
    Column("sequence", BigInteger, nullable=False),
    Column("kind", String(100), nullable=False),
    Column("actor_subject", String(200), nullable=False),
    Column("flow_id", Uuid, nullable=False),
    Column("from_state", String(100)),
    Column("to_state", String(100)),
    Column("detail", JSONB),
    Column("salt", String(64)),
    Column("detail_hash", String(64), nullable=False),
    Column("head", String(64), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

ADMIN_AUDIT = Table(
    "admin_audit",
    METADATA,
    Column("id", BigInteger, primary_key=True),
    Column("action", String(100), nullable=False),
    Column("actor_subject", String(200), nullable=False),
    Column("flow_id", Uuid),
    Column("type_key", String(100)),
    Column("checksum", String(64)),
    Column("correlation_id", String(200)),
    Column("detail", JSONB, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

REQUEST_CREATION = Table(
    "request_creation",
    METADATA,
    Column("actor_subject", String(200), primary_key=True),
    Column("business_scope", String(100), primary_key=True),
    Column("idempotency_key", String(200), primary_key=True),
    Column("payload_hash", String(64), nullable=False),
    Column("request_id", Uuid, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

RECONCILIATION_RESOLUTION = Table(
    "reconciliation_resolution",
    METADATA,
    Column("id", Uuid, primary_key=True),
    Column("execution_id", Uuid, nullable=False),
    Column("idempotency_key", String(200), nullable=False),
    Column("payload_hash", String(64), nullable=False),
    Column("action_id", String(100)),
    Column("resolution", String(40), nullable=False),
    Column("evidence", JSONB, nullable=False),
    Column("result", JSONB),
    Column("operator_subject", String(200), nullable=False),
    Column("correlation_id", String(200)),
    Column("created_at", DateTime(timezone=True), nullable=False),
)
