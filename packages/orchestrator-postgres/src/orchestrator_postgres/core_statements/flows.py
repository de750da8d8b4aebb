"""Flow versions."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Integer,
    bindparam,
    case,
    collate,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements.tables import FLOW_DEFINITION as FLOW

_BY_ID = select(FLOW).where(FLOW.c.id == bindparam("id"))
# "C" compares code points, as the port promises, whatever collation the database was made with.
_KEY = collate(FLOW.c.flow_key, "C")
_LISTED = [column for column in FLOW.c if column.name not in ("definition", "contracts")]
_FLOW_KEY = bindparam("flow_key", type_=FLOW.c.flow_key.type)
_STATUS = bindparam("status", type_=FLOW.c.status.type)
_DRAFT: ColumnElement[str] = literal_column("'DRAFT'")
_PUBLISHED_AT = case((_STATUS == _DRAFT, None), else_=func.clock_timestamp())
_COLUMNS: Mapping[str, Any] = {
    "definition": bindparam("definition"),
    "status": bindparam("status"),
    "checksum": bindparam("checksum"),
    "contracts": bindparam("contracts"),
    "revision": bindparam("revision"),
}

STATEMENTS: Final[Mapping[str, ClauseElement]] = {
    "find_flow": _BY_ID,
    "find_published_flow": select(FLOW).where(FLOW.c.id == bindparam("id"), FLOW.c.status != _DRAFT),
    # One row of one table: after waiting for the lock, PostgreSQL returns its newest version. FOR NO KEY UPDATE keeps out
    # writers and those who lock it shared, and lets pass the foreign keys of histories that only name the flow.
    "lock_flow": _BY_ID.with_for_update(key_share=True),
    "lock_flow_shared": _BY_ID.with_for_update(read=True),
    "list_flows": select(*_LISTED)
    .where(
        tuple_(_KEY, FLOW.c.version)
        > tuple_(
            bindparam("after_key", type_=FLOW.c.flow_key.type),
            bindparam("after_version", type_=FLOW.c.version.type),
        ),
        or_(_FLOW_KEY.is_(None), FLOW.c.flow_key == _FLOW_KEY),
        or_(_STATUS.is_(None), FLOW.c.status == _STATUS),
    )
    .order_by(_KEY, FLOW.c.version)
    .limit(bindparam("limit", type_=Integer())),
    "add_flow": insert(FLOW)
    .values(
        id=bindparam("id"),
        flow_key=bindparam("flow_key"),
        version=bindparam("version"),
        schema_version=bindparam("schema_version"),
        created_by=bindparam("created_by"),
        published_at=_PUBLISHED_AT,
        **_COLUMNS,
    )
    .on_conflict_do_nothing(index_elements=["flow_key", "version"])
    .returning(FLOW),
    "save_flow": update(FLOW)
    .where(FLOW.c.id == bindparam("id"), FLOW.c.revision == bindparam("before"))
    .values(published_at=func.coalesce(FLOW.c.published_at, _PUBLISHED_AT), **_COLUMNS)
    .returning(FLOW),
}
