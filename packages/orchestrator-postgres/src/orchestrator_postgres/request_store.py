"""Requests, their creation records and their executions, as acceptance and readers need them."""

from typing import Any

from attrs import evolve, frozen

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
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import jsonb

_LOCK_VISIBLE = sql_file("lock_visible_request")
_READ_VISIBLE = sql_file("read_visible_request")
_RESERVE = sql_file("core/reserve_creation")
_EARLIER = sql_file("core/read_creation")
_ADD_REQUEST = sql_file("core/add_request")
_ADD_EXECUTION = sql_file("core/add_execution")
_EXECUTION_BY_KEY = sql_file("core/find_execution_by_key")
_VISIBLE_EXECUTION = sql_file("core/find_visible_execution")


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
