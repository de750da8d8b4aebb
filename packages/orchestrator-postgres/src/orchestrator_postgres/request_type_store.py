"""Request types in request_type."""

from collections.abc import Sequence

from attrs import frozen

from orchestrator_domain.errors import RevisionMismatch
from orchestrator_domain.flow.lifecycle import RequestType
from orchestrator_domain.identifiers import RequestTypeKey, Revision
from orchestrator_domain.ports.flow_store import LISTED_MAX, AdminFact, RequestTypeStore
from orchestrator_postgres.admin_audit import write_admin_fact
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.row_mapping import type_of
from orchestrator_postgres.statements import sql_file

_FIND = sql_file("core/find_request_type")
_LOCK = sql_file("core/lock_request_type")
_LOCK_SHARED = sql_file("core/lock_request_type_shared")
_LIST = sql_file("core/list_request_types")
_ADD = sql_file("core/add_request_type")
_SAVE = sql_file("core/save_request_type")


@frozen
class PostgresRequestTypeStore(RequestTypeStore):
    """Keep request types, in the transaction of one connection."""

    _connection: StoreConnection

    async def find(self, key: RequestTypeKey) -> RequestType | None:
        return await self._one(_FIND, key=key)

    async def list_types(
        self, *, after: RequestTypeKey | None = None, limit: int = LISTED_MAX
    ) -> Sequence[RequestType]:
        cursor = await self._connection.execute(_LIST, {"after": after or "", "limit": limit})
        return [type_of(row) for row in await cursor.fetchall()]

    async def lock(self, key: RequestTypeKey) -> RequestType | None:
        return await self._one(_LOCK, key=key)

    async def lock_shared(self, key: RequestTypeKey) -> RequestType | None:
        return await self._one(_LOCK_SHARED, key=key)

    async def add(self, request_type: RequestType, fact: AdminFact) -> bool:
        if await self._one(_ADD, **_values(request_type)) is None:
            return False
        await write_admin_fact(self._connection, fact)
        return True

    async def save(self, request_type: RequestType, *, before: Revision, fact: AdminFact) -> RequestType:
        stored = await self._one(_SAVE, before=before, **_values(request_type))
        if stored is None:
            current = await self.find(request_type.key)
            raise RevisionMismatch(
                "The request type has changed since you read it; read it again.",
                current=None if current is None else current.revision,
            )
        await write_admin_fact(self._connection, fact)
        return stored

    async def _one(self, statement: bytes, **values: object) -> RequestType | None:
        cursor = await self._connection.execute(statement, values)
        row = await cursor.fetchone()
        return None if row is None else type_of(row)


def _values(request_type: RequestType) -> dict[str, object]:
    return {
        "key": request_type.key,
        "active_flow": request_type.active_flow,
        "enabled": request_type.enabled,
        "revision": request_type.revision,
    }
