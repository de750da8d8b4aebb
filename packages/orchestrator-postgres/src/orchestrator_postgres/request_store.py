"""Requests, their creation records and their executions, as acceptance and readers need them."""

from typing import Any

from attrs import evolve, frozen
from sqlalchemy import bindparam, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId, IdempotencyKey, RequestId, Revision
from orchestrator_domain.ports.request_store import CreationRecord, RequestStore, VisibleRequest
from orchestrator_domain.request.request import Request
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fault_translation import TransientFault
from orchestrator_postgres.history import RequestMove, advance_request, send_advance
from orchestrator_postgres.row_mapping import Row, acceptance_snapshot, execution_of, request_of
from orchestrator_postgres.statements import compiled, sql_file
from orchestrator_postgres.stored_json import jsonb
from orchestrator_postgres.tables import EXECUTION, REQUEST_CREATION, REQUEST_INSTANCE

_LOCK_VISIBLE = sql_file("lock_visible_request")
_READ_VISIBLE = sql_file("read_visible_request")

_CREATION_KEY = ("actor_subject", "business_scope", "idempotency_key")
_RESERVE = compiled(
    insert(REQUEST_CREATION)
    .values({name: bindparam(name) for name in (*_CREATION_KEY, "payload_hash", "request_id")})
    .on_conflict_do_nothing(index_elements=_CREATION_KEY)
    .returning(REQUEST_CREATION.c.request_id)
)
_EARLIER = compiled(
    select(REQUEST_CREATION.c.payload_hash, REQUEST_CREATION.c.request_id).where(
        *(REQUEST_CREATION.c[name] == bindparam(name) for name in _CREATION_KEY)
    )
)

_REQUEST_COLUMNS = (
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
_ADD_REQUEST = compiled(
    insert(REQUEST_INSTANCE)
    .values({name: bindparam(name) for name in _REQUEST_COLUMNS})
    .returning(REQUEST_INSTANCE.c.created_at)
)

_EXECUTION_COLUMNS = (
    "id",
    "request_id",
    "idempotency_key",
    "payload_hash",
    "actor_subject",
    "actor_snapshot",
    "event_key",
    "event_data",
    "transition_id",
    "from_state",
    "accepted_revision",
    "correlation_id",
    "status",
)
_ADD_EXECUTION = compiled(
    insert(EXECUTION).values({name: bindparam(name) for name in _EXECUTION_COLUMNS}).returning(EXECUTION)
)
_EXECUTION_BY_KEY = compiled(
    select(EXECUTION).where(
        EXECUTION.c.request_id == bindparam("request_id"), EXECUTION.c.idempotency_key == bindparam("key")
    )
)
_VISIBLE_EXECUTION = compiled(
    select(EXECUTION)
    .join(REQUEST_INSTANCE, REQUEST_INSTANCE.c.id == EXECUTION.c.request_id)
    .where(
        EXECUTION.c.id == bindparam("id"),
        or_(
            REQUEST_INSTANCE.c.owner_subject == bindparam("subject"),
            REQUEST_INSTANCE.c.business_scope == func.any(bindparam("scopes")),
        ),
    )
)


@frozen
class PostgresRequestStore(RequestStore):
    """Keep requests, in the transaction of one connection."""

    _connection: StoreConnection

    async def reserve_creation(self, record: CreationRecord) -> CreationRecord | None:
        # The loser of two waits for the winner here; its next statement reads what the winner has committed.
        if await self._one(_RESERVE, **_creation_values(record)) is not None:
            return None
        earlier = await self._one(_EARLIER, **_creation_values(record))
        if earlier is None:
            raise TransientFault(None)
        return evolve(record, payload_hash=earlier["payload_hash"], request_id=earlier["request_id"])

    async def add(self, request: Request, fact: AuditFact) -> Request:
        row = await self._one(_ADD_REQUEST, **_request_values(request))
        updated_at = await advance_request(
            self._connection, request.id, fact, RequestMove(from_revision=request.revision)
        )
        if row is None or updated_at is None:
            raise TransientFault(None)
        return evolve(request, created_at=row["created_at"], updated_at=updated_at)

    async def find_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        return _visible_of(await self._one(_READ_VISIBLE, **_visibility(request_id, actor)))

    async def lock_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        values = _visibility(request_id, actor)
        # Lock in one statement, read in the next, in one round trip: the second sees what the first has waited for.
        async with self._connection.pipeline():
            await self._connection.execute(_LOCK_VISIBLE, values)
            cursor = await self._connection.execute(_READ_VISIBLE, values)
        return _visible_of(await cursor.fetchone())

    async def execution_by_key(self, request_id: RequestId, key: IdempotencyKey) -> Execution | None:
        return _execution_or_none(await self._one(_EXECUTION_BY_KEY, request_id=request_id, key=key))

    async def save_acceptance(self, request: Request, execution: Execution, fact: AuditFact) -> Execution:
        move = RequestMove(from_revision=Revision(request.revision - 1), revision_step=1)
        async with self._connection.pipeline():
            inserted = await self._connection.execute(_ADD_EXECUTION, _execution_values(execution))
            advancing = await send_advance(self._connection, request.id, fact, move)
        row, advanced = await inserted.fetchone(), await advancing.fetchone()
        if row is None or advanced is None:
            # Whoever locked the request can't see this; told again, the story reads what has moved.
            raise TransientFault(None)
        return execution_of(row)

    async def find_visible_execution(self, execution_id: ExecutionId, actor: Actor) -> Execution | None:
        return _execution_or_none(
            await self._one(
                _VISIBLE_EXECUTION, id=execution_id, subject=actor.subject, scopes=sorted(actor.scopes)
            )
        )

    async def _one(self, statement: bytes, **values: object) -> Row | None:
        return await (await self._connection.execute(statement, values)).fetchone()


def _visibility(request_id: RequestId, actor: Actor) -> dict[str, Any]:
    return {"request_id": request_id, "subject": actor.subject, "scopes": sorted(actor.scopes)}


def _visible_of(row: Row | None) -> VisibleRequest | None:
    if row is None:
        return None
    return VisibleRequest(request=request_of(row), active_execution=row["active_execution_id"])


def _execution_or_none(row: Row | None) -> Execution | None:
    return None if row is None else execution_of(row)


def _creation_values(record: CreationRecord) -> dict[str, object]:
    return {
        "actor_subject": record.actor,
        "business_scope": record.scope,
        "idempotency_key": record.key,
        "payload_hash": record.payload_hash,
        "request_id": record.request_id,
    }


def _request_values(request: Request) -> dict[str, object]:
    return {
        "id": request.id,
        "type_key": request.type_key,
        "flow_id": request.flow.id,
        "current_state": request.state,
        "data": jsonb(request.data),
        "initial_data": jsonb(request.data),
        "owner_subject": request.owner,
        "business_scope": request.scope,
        "revision": request.revision,
    }


def _execution_values(execution: Execution) -> dict[str, object]:
    return {
        "id": execution.id,
        "request_id": execution.request_id,
        "idempotency_key": execution.idempotency_key,
        "payload_hash": execution.payload_hash,
        "actor_subject": execution.actor.subject,
        "actor_snapshot": jsonb(acceptance_snapshot(execution)),
        "event_key": execution.event,
        "event_data": jsonb(execution.event_data),
        "transition_id": execution.transition,
        "from_state": execution.from_state,
        "accepted_revision": execution.accepted_revision,
        "correlation_id": execution.correlation_id,
        "status": execution.status.value,
    }
