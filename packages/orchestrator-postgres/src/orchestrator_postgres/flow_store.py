"""Flow versions in flow_definition."""

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from sqlalchemy import (
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

from orchestrator_domain.errors import DuplicateFlowVersion, RevisionMismatch
from orchestrator_domain.flow.lifecycle import FlowSummary, StoredFlow
from orchestrator_domain.identifiers import FlowId, Revision
from orchestrator_domain.ports.flow_store import (
    EVERY_FLOW,
    LISTED_MAX,
    AdminFact,
    FlowFilter,
    FlowPosition,
    FlowStore,
)
from orchestrator_postgres.admin_audit import write_admin_fact
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.row_mapping import contract_document, flow_of, flow_summary_of
from orchestrator_postgres.statements import compiled
from orchestrator_postgres.stored_json import jsonb
from orchestrator_postgres.tables import FLOW_DEFINITION as FLOW

_BY_ID = select(FLOW).where(FLOW.c.id == bindparam("id"))
_FIND = compiled(_BY_ID)
# One row of one table: after waiting for the lock, PostgreSQL returns its newest version. FOR NO KEY UPDATE keeps out
# writers and those who lock it shared, and lets pass the foreign keys of histories that only name the flow.
_LOCK = compiled(_BY_ID.with_for_update(key_share=True))
_LOCK_SHARED = compiled(_BY_ID.with_for_update(read=True))
# "C" compares code points, as the port promises, whatever collation the database was made with.
_KEY = collate(FLOW.c.flow_key, "C")
_LISTED = [column for column in FLOW.c if column.name not in ("definition", "contracts")]
_FLOW_KEY = bindparam("flow_key", type_=FLOW.c.flow_key.type)
_STATUS = bindparam("status", type_=FLOW.c.status.type)
_LIST = compiled(
    select(*_LISTED)
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
    .limit(bindparam("limit", type_=Integer()))
)

_PUBLISHED_AT = case(
    (bindparam("status", type_=FLOW.c.status.type) == literal_column("'DRAFT'"), None),
    else_=func.clock_timestamp(),
)
_COLUMNS: dict[str, Any] = {
    "definition": bindparam("definition"),
    "status": bindparam("status"),
    "checksum": bindparam("checksum"),
    "contracts": bindparam("contracts"),
    "revision": bindparam("revision"),
}
_ADD = compiled(
    insert(FLOW)
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
    .returning(FLOW)
)
_SAVE = compiled(
    update(FLOW)
    .where(FLOW.c.id == bindparam("id"), FLOW.c.revision == bindparam("before"))
    .values(published_at=func.coalesce(FLOW.c.published_at, _PUBLISHED_AT), **_COLUMNS)
    .returning(FLOW)
)


@frozen
class PostgresFlowStore(FlowStore):
    """Keep flow versions, in the transaction of one connection."""

    _connection: StoreConnection

    async def add(self, flow: StoredFlow, fact: AdminFact) -> StoredFlow:
        stored = await self._one(_ADD, **_values(flow))
        if stored is None:
            raise DuplicateFlowVersion("This flow key has this version already; choose the next version.")
        await write_admin_fact(self._connection, fact)
        return stored

    async def find(self, flow_id: FlowId) -> StoredFlow | None:
        return await self._one(_FIND, id=flow_id)

    async def list_versions(
        self,
        *,
        matching: FlowFilter = EVERY_FLOW,
        after: FlowPosition | None = None,
        limit: int = LISTED_MAX,
    ) -> Sequence[FlowSummary]:
        values = {
            "after_key": "" if after is None else after.flow_key,
            "after_version": 0 if after is None else after.version,
            "flow_key": matching.flow_key,
            "status": matching.status,
            "limit": limit,
        }
        cursor = await self._connection.execute(_LIST, values)
        return [flow_summary_of(row) for row in await cursor.fetchall()]

    async def lock(self, flow_id: FlowId) -> StoredFlow | None:
        return await self._one(_LOCK, id=flow_id)

    async def lock_shared(self, flow_id: FlowId) -> StoredFlow | None:
        return await self._one(_LOCK_SHARED, id=flow_id)

    async def save(self, flow: StoredFlow, *, before: Revision, fact: AdminFact) -> StoredFlow:
        stored = await self._one(_SAVE, before=before, **_values(flow))
        if stored is None:
            current = await self.find(flow.id)
            raise RevisionMismatch(
                "The flow has changed since you read it; read it again.",
                current=None if current is None else current.revision,
            )
        await write_admin_fact(self._connection, fact)
        return stored

    async def _one(self, statement: bytes, **values: object) -> StoredFlow | None:
        cursor = await self._connection.execute(statement, values)
        row = await cursor.fetchone()
        return None if row is None else flow_of(row)


def _values(flow: StoredFlow) -> dict[str, object]:
    return {
        "id": flow.id,
        "flow_key": flow.flow_key,
        "version": flow.version,
        "status": flow.status.value,
        "schema_version": flow.schema_version,
        "definition": jsonb(flow.document),
        "checksum": flow.checksum,
        "contracts": jsonb([contract_document(contract) for contract in flow.contracts]),
        "revision": flow.revision,
        "created_by": flow.created_by,
    }
