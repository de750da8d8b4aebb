"""Facts of requests, and of administrative acts."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements.tables import ADMIN_AUDIT, AUDIT_ENTRY, FLOW_DEFINITION

_CHECKSUM_BY_NOW = (
    select(FLOW_DEFINITION.c.checksum).where(FLOW_DEFINITION.c.id == bindparam("flow")).scalar_subquery()
)

STATEMENTS: Final[Mapping[str, ClauseElement]] = {
    "read_history": select(AUDIT_ENTRY)
    .where(AUDIT_ENTRY.c.request_id == bindparam("request_id"))
    .order_by(AUDIT_ENTRY.c.sequence),
    "read_histories": select(AUDIT_ENTRY)
    .where(AUDIT_ENTRY.c.request_id == func.any(bindparam("ids")))
    .order_by(AUDIT_ENTRY.c.request_id, AUDIT_ENTRY.c.sequence),
    "add_admin_fact": insert(ADMIN_AUDIT).values(
        action=bindparam("action"),
        actor_subject=bindparam("actor"),
        flow_id=bindparam("flow"),
        type_key=bindparam("type"),
        checksum=_CHECKSUM_BY_NOW,
        correlation_id=bindparam("correlation"),
        detail=bindparam("detail"),
    ),
}
