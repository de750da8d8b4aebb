"""Requests and the records of their creation."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements.tables import REQUEST_CREATION, REQUEST_INSTANCE

_CREATION_KEY = ("actor_subject", "business_scope", "idempotency_key")
_COLUMNS = (
    "id",
    "type_key",
    "flow_id",
    "current_state",
    "data",
    "initial_data",
    "owner_subject",
    "business_scope",
    "revision",
)

STATEMENTS: Final[Mapping[str, ClauseElement]] = {
    "reserve_creation": insert(REQUEST_CREATION)
    .values({name: bindparam(name) for name in (*_CREATION_KEY, "payload_hash", "request_id")})
    .on_conflict_do_nothing(index_elements=_CREATION_KEY)
    .returning(REQUEST_CREATION.c.request_id),
    "read_creation": select(REQUEST_CREATION.c.payload_hash, REQUEST_CREATION.c.request_id).where(
        *(REQUEST_CREATION.c[name] == bindparam(name) for name in _CREATION_KEY)
    ),
    "add_request": insert(REQUEST_INSTANCE)
    .values({name: bindparam(name) for name in _COLUMNS})
    .returning(REQUEST_INSTANCE.c.created_at),
}
