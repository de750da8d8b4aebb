"""Executions, as acceptance and readers need them."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements.tables import EXECUTION, REQUEST_INSTANCE

_COLUMNS = (
    "id",
    "request_id",
    "idempotency_key",
    "payload_hash",
    "actor_subject",
    "actor_snapshot",
    "event_key",
    "event_data",
    "transition_id",
    "from_state",
    "accepted_revision",
    "correlation_id",
    "status",
)
_IS_VISIBLE = or_(
    REQUEST_INSTANCE.c.owner_subject == bindparam("subject"),
    REQUEST_INSTANCE.c.business_scope == func.any(bindparam("scopes")),
)

STATEMENTS: Final[Mapping[str, ClauseElement]] = {
    "add_execution": insert(EXECUTION)
    .values({name: bindparam(name) for name in _COLUMNS})
    .returning(EXECUTION),
    "find_execution_by_key": select(EXECUTION).where(
        EXECUTION.c.request_id == bindparam("request_id"), EXECUTION.c.idempotency_key == bindparam("key")
    ),
    "find_visible_execution": select(EXECUTION)
    .join(REQUEST_INSTANCE, REQUEST_INSTANCE.c.id == EXECUTION.c.request_id)
    .where(EXECUTION.c.id == bindparam("id"), _IS_VISIBLE),
    "read_executions": select(EXECUTION)
    .where(EXECUTION.c.request_id == func.any(bindparam("ids")))
    .order_by(EXECUTION.c.accepted_revision),
}
