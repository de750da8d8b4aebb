"""Request types."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Integer, bindparam, collate, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements.tables import REQUEST_TYPE as TYPE

_BY_KEY = select(TYPE).where(TYPE.c.type_key == bindparam("key"))
# "C" compares code points, as the port promises, whatever collation the database was made with.
_KEY = collate(TYPE.c.type_key, "C")
_AFTER = bindparam("after", type_=TYPE.c.type_key.type)
_COLUMNS: Mapping[str, Any] = {
    "active_flow_id": bindparam("active_flow"),
    "enabled": bindparam("enabled"),
    "revision": bindparam("revision"),
}

STATEMENTS: Final[Mapping[str, ClauseElement]] = {
    "find_request_type": _BY_KEY,
    "lock_request_type": _BY_KEY.with_for_update(),
    "lock_request_type_shared": _BY_KEY.with_for_update(read=True),
    "list_request_types": select(TYPE)
    .where(_AFTER < _KEY)
    .order_by(_KEY)
    .limit(bindparam("limit", type_=Integer())),
    "add_request_type": insert(TYPE)
    .values(type_key=bindparam("key"), **_COLUMNS)
    .on_conflict_do_nothing(index_elements=["type_key"])
    .returning(TYPE),
    "save_request_type": update(TYPE)
    .where(TYPE.c.type_key == bindparam("key"), TYPE.c.revision == bindparam("before"))
    .values(**_COLUMNS)
    .returning(TYPE),
}
