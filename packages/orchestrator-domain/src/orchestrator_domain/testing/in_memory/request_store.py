"""Requests, their creations and their executions in one session."""

from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import GENESIS_HEAD, AuditFact
from orchestrator_domain.errors import IdempotencyConflict, NotFound, RequestBusy
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId, IdempotencyKey, RequestId
from orchestrator_domain.ports.request_store import CreationRecord, RequestStore, VisibleRequest
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.in_memory.history import append_fact
from orchestrator_domain.testing.in_memory.rows import ExecutionRow, RequestRow
from orchestrator_domain.testing.in_memory.store import Session


class InMemoryRequestStore(RequestStore):
    def __init__(self, session: Session) -> None:
        self._session = session

    async def reserve_creation(self, record: CreationRecord) -> CreationRecord | None:
        key = (record.actor, record.scope, record.key)
        earlier = self._session.creations.get(key)
        if earlier is None:
            self._session.creations.put(key, record)
        return earlier

    async def add(self, request: Request, fact: AuditFact) -> Request:
        now = self._session.clock.now()
        stored = evolve(request, created_at=now, updated_at=now)
        row = RequestRow(request=stored, initial_data=stored.data, audit_sequence=0, audit_head=GENESIS_HEAD)
        append_fact(self._session, row, fact)
        return stored

    async def find_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        row = self._visible_row(request_id, actor)
        if row is None:
            return None
        return VisibleRequest(
            request=row.request, active_execution=self._session.active_executions.get(request_id)
        )

    async def lock_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        """Read without waiting: if another story commits first, this one is run again."""
        return await self.find_visible(request_id, actor)

    async def execution_by_key(self, request_id: RequestId, key: IdempotencyKey) -> Execution | None:
        execution_id = self._session.execution_keys.get((request_id, key))
        return None if execution_id is None else self._execution(execution_id)

    async def save_acceptance(self, request: Request, execution: Execution, fact: AuditFact) -> Execution:
        """Store both; raise RequestBusy or IdempotencyConflict where acceptance should have refused already."""
        row = self._session.requests.get(request.id)
        if row is None:
            raise NotFound("The request of this acceptance doesn't exist.")
        self._require_free(execution)
        now = self._session.clock.now()
        stored = evolve(execution, created_at=now, updated_at=now, next_attempt_at=now)
        moved = evolve(request, created_at=row.request.created_at, updated_at=now)
        append_fact(self._session, evolve(row, request=moved), fact)
        self._add_execution(ExecutionRow(execution=stored, accepted_flow=request.flow.id))
        return stored

    async def find_visible_execution(self, execution_id: ExecutionId, actor: Actor) -> Execution | None:
        execution = self._execution(execution_id)
        if execution is None or self._visible_row(execution.request_id, actor) is None:
            return None
        return execution

    def _visible_row(self, request_id: RequestId, actor: Actor) -> RequestRow | None:
        row = self._session.requests.get(request_id)
        if row is None or not actor.may_see(owner=row.request.owner, scope=row.request.scope):
            return None
        return row

    def _execution(self, execution_id: ExecutionId) -> Execution | None:
        row = self._session.executions.get(execution_id)
        return None if row is None else row.execution

    def _require_free(self, execution: Execution) -> None:
        active = self._session.active_executions.get(execution.request_id)
        if active is not None:
            raise RequestBusy("The request has an active execution already.", active_execution=active)
        if self._session.execution_keys.get((execution.request_id, execution.idempotency_key)) is not None:
            raise IdempotencyConflict("The key has been used on this request already.")

    def _add_execution(self, row: ExecutionRow) -> None:
        execution = row.execution
        self._session.executions.put(execution.id, row)
        self._session.execution_keys.put((execution.request_id, execution.idempotency_key), execution.id)
        self._session.active_executions.put(execution.request_id, execution.id)
