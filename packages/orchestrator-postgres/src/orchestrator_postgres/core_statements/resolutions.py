"""What operators resolved."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, insert, select
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements.tables import RECONCILIATION_RESOLUTION as RESOLUTION

_COLUMNS = (
    "id",
    "execution_id",
    "idempotency_key",
    "payload_hash",
    "action_id",
    "resolution",
    "evidence",
    "result",
    "operator_subject",
    "correlation_id",
)

STATEMENTS: Final[Mapping[str, ClauseElement]] = {
    "add_resolution": insert(RESOLUTION).values({name: bindparam(name) for name in _COLUMNS}),
    "read_resolutions": select(RESOLUTION)
    .where(RESOLUTION.c.execution_id == bindparam("execution_id"))
    .order_by(RESOLUTION.c.created_at, RESOLUTION.c.id),
}
