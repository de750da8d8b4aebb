"""The chain of facts of a request: advance it, read it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from attrs import frozen
from psycopg import AsyncCursor
from psycopg.rows import DictRow
from sqlalchemy import bindparam, select

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry, AuditFact
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId, Revision, StateKey
from orchestrator_domain.ports.history import HistoryFilter, HistoryReader
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.row_mapping import audit_entry_of
from orchestrator_postgres.statements import compiled, sql_file
from orchestrator_postgres.stored_json import jsonb, jsonb_or_null
from orchestrator_postgres.tables import AUDIT_ENTRY

_READ_VISIBLE = sql_file("read_visible_history")
_ADVANCE = sql_file("advance_request")
_READ = compiled(
    select(AUDIT_ENTRY)
    .where(AUDIT_ENTRY.c.request_id == bindparam("request_id"))
    .order_by(AUDIT_ENTRY.c.sequence)
)


class PostgresHistory(HistoryReader):
    """Read pages of histories in the transaction of one connection."""

    def __init__(self, connection: StoreConnection) -> None:
        self._connection = connection

    async def entries(
        self, request_id: RequestId, actor: Actor, *, wanted: HistoryFilter, after: int, limit: int
    ) -> Sequence[AuditEntry] | None:
        values = {
            "request_id": request_id,
            "subject": actor.subject,
            "scopes": sorted(actor.scopes),
            "after": after,
            "limit": limit,
            "kind": None if wanted.kind is None else wanted.kind.value,
            "execution_id": wanted.execution_id,
            "since": wanted.since,
            "until": wanted.until,
        }
        rows = await (await self._connection.execute(_READ_VISIBLE, values)).fetchall()
        # A visible request without any such entry is one row that holds none.
        return [audit_entry_of(row) for row in rows if row["id"] is not None] if rows else None


@frozen(kw_only=True)
class RequestMove:
    """How a locked request moves on: without a step of the revision only its history grows."""

    from_revision: Revision
    revision_step: int = 0
    to_state: StateKey | None = None
    data: JsonObject | None = None


async def advance_request(
    connection: StoreConnection, request_id: RequestId, fact: AuditFact, move: RequestMove
) -> datetime | None:
    """Move a locked request on and append the fact that says so; return when it was last updated.

    None means that the request isn't at `from_revision` any more, and that nothing was written.
    """
    row = await (await send_advance(connection, request_id, fact, move)).fetchone()
    return None if row is None else row["updated_at"].astimezone(UTC)


async def send_advance(
    connection: StoreConnection, request_id: RequestId, fact: AuditFact, move: RequestMove
) -> AsyncCursor[DictRow]:
    """Do as `advance_request` without waiting for the answer where the connection is in a pipeline."""
    values = {
        "request_id": request_id,
        "from_revision": move.from_revision,
        "revision_step": move.revision_step,
        "to_state": move.to_state,
        "data": jsonb_or_null(move.data),
        **_fact_values(request_id, fact),
    }
    return await connection.execute(_ADVANCE, values)


async def read_history(connection: StoreConnection, request_id: RequestId) -> Sequence[AuditEntry]:
    """Return the whole history in order of sequence."""
    cursor = await connection.execute(_READ, {"request_id": request_id})
    return [audit_entry_of(row) for row in await cursor.fetchall()]


def _fact_values(request_id: RequestId, fact: AuditFact) -> dict[str, object]:
    return {
        "entry_id": fact.id,
        "execution_id": fact.execution_id,
        "kind": fact.kind.value,
        "actor": fact.actor,
        "flow_id": fact.flow_id,
        "fact_from_state": fact.from_state,
        "fact_to_state": fact.to_state,
        "detail": jsonb(fact.detail),
        "salt": fact.salt,
        "detail_hash": fact.detail_hash(),
        "content_hash": fact.content_hash(request_id),
    }
