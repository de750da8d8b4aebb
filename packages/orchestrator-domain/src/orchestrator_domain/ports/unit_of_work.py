"""One transaction around a story, told by a use case and carried by the store."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from orchestrator_domain.ports.event_judgement import (
    AddressedEvent,
    AnsweredEvent,
    Judge,
    NewExecution,
    RequestAtHand,
)
from orchestrator_domain.ports.flow_store import FlowStore, RequestTypeStore
from orchestrator_domain.ports.history import HistoryReader
from orchestrator_domain.ports.request_store import RequestStore

if TYPE_CHECKING:
    # Named by its type alone, and a host without operators never needs what it brings along.
    from orchestrator_domain.ports.reconciliation_store import ReconciliationStore


class Transaction(Protocol):
    """Give access to the stores inside one transaction."""

    @property
    def requests(self) -> RequestStore: ...

    @property
    def history(self) -> HistoryReader: ...

    @property
    def flows(self) -> FlowStore: ...

    @property
    def request_types(self) -> RequestTypeStore: ...

    @property
    def reconciliation(self) -> "ReconciliationStore": ...


class UnitOfWork(Protocol):
    """Run stories atomically.

    Promises: everything that `story` wrote is durable when `run` returns, and nothing of it if `run` raises an
    OrchestratorError of the story. The story may be run again from the start after a conflict between transactions or
    a broken connection, so it must have no effect outside the transaction; after a bounded number of tries
    StorageUnavailable is raised, and then the outcome is unknown and the command safe to repeat.

    `run` may tell a story again although an earlier telling was stored and only its answer was lost, so the story must
    know its own work again (by a key, say). `run_once` is for stories that don't: where it isn't known whether a
    telling was stored, it raises StorageUnavailable instead of telling again, and never the refusal of a second telling.

    `judge_event` is the story of one event: what its judge answers is stored, or nothing if it raises. Events that come
    at one moment may become durable together, but each is judged by itself, on what was committed before it, and what
    becomes of one is nothing to the others.
    """

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result: ...

    async def run_once[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run a story that doesn't know its own work again; a store whose answers can't be lost just runs it."""
        return await self.run(story)

    async def judge_event(self, event: AddressedEvent, judge: Judge) -> AnsweredEvent:
        """Let an event be judged, and store what is taken; here each is a story of its own."""

        async def story(work: Transaction) -> AnsweredEvent:
            judged = await judge(await _at_hand(work, event), work.flows)
            match judged:
                case AnsweredEvent():
                    return judged
                case NewExecution(request=request, execution=execution, fact=fact):
                    stored = await work.requests.save_acceptance(request, execution, fact)
                    return AnsweredEvent(request=request, execution=stored)

        return await self.run(story)


async def _at_hand(work: Transaction, event: AddressedEvent) -> RequestAtHand | None:
    visible = await work.requests.lock_visible(event.request_id, event.actor)
    if visible is None:
        return None
    return RequestAtHand(
        request=visible.request,
        active_execution=visible.active_execution,
        earlier=await work.requests.execution_by_key(event.request_id, event.key),
    )
