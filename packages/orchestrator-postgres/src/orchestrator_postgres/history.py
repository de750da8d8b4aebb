"""The chain of facts of a request: advance it, read it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from attrs import frozen
from psycopg import AsyncCursor
from psycopg.rows import DictRow

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry, AuditFact
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId, Revision, StateKey
from orchestrator_domain.ports.history import HistoryFilter, HistoryReader
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.row_mapping import audit_entry_of
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_values import (
    choice,
    document,
    document_or_null,
    text,
    text_or_null,
    uuid,
    uuid_or_null,
    whole,
    whole_or_null,
)

_READ_VISIBLE = sql_file("read_visible_history")
ADVANCE = sql_file("advance_requests")
_READ = sql_file("core/read_history")


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
    """How a locked request moves on: without a step of the revision only its history grows.

    `from_revision` None stands for the one at which the event of the fact's execution was accepted.
    """

    from_revision: Revision | None
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
    return await connection.execute(ADVANCE, rows_parameter([advance_row(request_id, fact, move)]))


def advance_row(request_id: RequestId, fact: AuditFact, move: RequestMove) -> str:
    """Return the row of the set-based statement that moves a request and appends its fact."""
    hashes = fact.hashes(request_id)
    return (
        f'{{"request_id":{uuid(request_id)}'
        f',"from_revision":{whole_or_null(move.from_revision)}'
        f',"revision_step":{whole(move.revision_step)}'
        f',"to_state":{text_or_null(move.to_state)}'
        f',"data":{document_or_null(move.data)}'
        f',"entry_id":{uuid(fact.id)}'
        f',"execution_id":{uuid_or_null(fact.execution_id)}'
        f',"kind":{choice(fact.kind)}'
        f',"actor":{text(fact.actor)}'
        f',"flow_id":{uuid(fact.flow_id)}'
        f',"fact_from_state":{text_or_null(fact.from_state)}'
        f',"fact_to_state":{text_or_null(fact.to_state)}'
        f',"detail":{document(fact.detail)}'
        f',"salt":{text(fact.salt)}'
        f',"detail_hash":{text(hashes.detail)}'
        f',"content_hash":{text(hashes.content)}'
        "}"
    )


async def read_history(connection: StoreConnection, request_id: RequestId) -> Sequence[AuditEntry]:
    """Return the whole history in order of sequence."""
    cursor = await connection.execute(_READ, {"request_id": request_id})
    return [audit_entry_of(row) for row in await cursor.fetchall()]
