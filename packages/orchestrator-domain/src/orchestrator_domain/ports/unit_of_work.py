"""One transaction around a story, told by a use case and carried by the store."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from orchestrator_domain.ports.flow_store import FlowStore, RequestTypeStore
from orchestrator_domain.ports.history import HistoryReader
from orchestrator_domain.ports.reconciliation_store import ReconciliationStore
from orchestrator_domain.ports.request_store import RequestStore


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
    def reconciliation(self) -> ReconciliationStore: ...


class UnitOfWork(Protocol):
    """Run stories atomically.

    Promises: everything that `story` wrote is durable when `run` returns, and nothing of it if `run` raises an
    OrchestratorError of the story. The story may be run again from the start after a conflict between transactions or
    a broken connection, so it must have no effect outside the transaction; after a bounded number of tries
    StorageUnavailable is raised, and then the outcome is unknown and the command safe to repeat.

    `run` may tell a story again although an earlier telling was stored and only its answer was lost, so the story must
    know its own work again (by a key, say). `run_once` is for stories that don't: where it isn't known whether a
    telling was stored, it raises StorageUnavailable instead of telling again, and never the refusal of a second telling.
    """

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result: ...

    async def run_once[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run a story that doesn't know its own work again; a store whose answers can't be lost just runs it."""
        return await self.run(story)
