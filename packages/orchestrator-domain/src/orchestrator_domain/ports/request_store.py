"""Requests and their executions as acceptance and readers need them, inside one transaction."""

from typing import Protocol

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import (
    BusinessScope,
    ExecutionId,
    IdempotencyKey,
    RequestId,
    Sha256Hex,
    Subject,
)
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class CreationRecord:
    """The durable memory of one `POST /requests`, unique per actor, scope and key."""

    actor: Subject
    scope: BusinessScope
    key: IdempotencyKey
    payload_hash: Sha256Hex
    request_id: RequestId


@frozen(kw_only=True)
class VisibleRequest:
    """A request as a reader finds it, with the id of the execution that blocks it."""

    request: Request
    active_execution: ExecutionId | None


class RequestStore(Protocol):
    """Keep requests.

    Promises: whatever takes an actor filters by owner and scope where rows are read, so what isn't visible is None.
    `reserve_creation` returns None when the record was taken down, or the earlier record of the same actor, scope and
    key; of two at once one waits for the other. `lock_visible` waits for other writers and then reads what they
    committed. Facts are appended to the request's chain in the transaction that they describe.
    """

    async def reserve_creation(self, record: CreationRecord) -> CreationRecord | None: ...

    async def add(self, request: Request, fact: AuditFact) -> Request: ...

    async def find_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None: ...

    async def lock_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None: ...

    async def execution_by_key(self, request_id: RequestId, key: IdempotencyKey) -> Execution | None: ...

    async def save_acceptance(self, request: Request, execution: Execution, fact: AuditFact) -> Execution: ...

    async def find_visible_execution(self, execution_id: ExecutionId, actor: Actor) -> Execution | None: ...
