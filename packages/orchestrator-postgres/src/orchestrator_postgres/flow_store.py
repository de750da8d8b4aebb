"""Flow versions in flow_definition."""

from collections.abc import Sequence

from attrs import frozen

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
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import jsonb

_FIND = sql_file("core/find_flow")
_LOCK = sql_file("core/lock_flow")
_LOCK_SHARED = sql_file("core/lock_flow_shared")
_LIST = sql_file("core/list_flows")
_ADD = sql_file("core/add_flow")
_SAVE = sql_file("core/save_flow")


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
