"""An event on its way to be accepted: what whoever judges it is shown, and what may come of it."""

from collections.abc import Awaitable, Callable

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId, IdempotencyKey, RequestId
from orchestrator_domain.ports.flow_store import FlowStore
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class AddressedEvent:
    """The request that an event is for, who sends it, and under which key."""

    request_id: RequestId
    actor: Actor
    key: IdempotencyKey


@frozen(kw_only=True)
class RequestAtHand:
    """A request that nobody else changes now, with the execution that blocks it and the one that the key has started."""

    request: Request
    active_execution: ExecutionId | None
    earlier: Execution | None


@frozen(kw_only=True)
class NewExecution:
    """What is stored where an event is taken: the request as it moves on, its execution, and the fact that says so."""

    request: Request
    execution: Execution
    fact: AuditFact


@frozen(kw_only=True)
class AnsweredEvent:
    """The event's execution as it is stored, now or before, and the request that it belongs to."""

    request: Request
    execution: Execution


type Judge = Callable[[RequestAtHand | None, FlowStore], Awaitable[NewExecution | AnsweredEvent]]
"""Say what becomes of an event on this request, None if its actor sees no such request; a refusal is raised.

Where it answers with an execution that was stored before, nothing more is stored. Like a story it may be asked again.
"""
