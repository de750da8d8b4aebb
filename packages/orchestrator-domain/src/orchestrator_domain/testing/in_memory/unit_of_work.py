"""Stories run on a session of their own, and again when another commit came in between."""

from collections.abc import Awaitable, Callable

from attrs import frozen

from orchestrator_domain.errors import OrchestratorError, StorageUnavailable
from orchestrator_domain.ports.flow_store import FlowStore, RequestTypeStore
from orchestrator_domain.ports.history import HistoryReader
from orchestrator_domain.ports.reconciliation_store import ReconciliationStore
from orchestrator_domain.ports.request_store import RequestStore
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.testing.in_memory.flow_store import InMemoryFlowStore, InMemoryRequestTypeStore
from orchestrator_domain.testing.in_memory.history import InMemoryHistory
from orchestrator_domain.testing.in_memory.reconciliation_store import InMemoryReconciliationStore
from orchestrator_domain.testing.in_memory.request_store import InMemoryRequestStore
from orchestrator_domain.testing.in_memory.store import InMemoryStore, Session


@frozen(kw_only=True)
class InMemoryTransaction(Transaction):
    """The stores of one session."""

    requests: RequestStore
    history: HistoryReader
    flows: FlowStore
    request_types: RequestTypeStore
    reconciliation: ReconciliationStore


class InMemoryUnitOfWork(UnitOfWork):
    """Run each story at most `tries_max` times. A simulation gives a store of its own for `requests`."""

    def __init__(
        self,
        store: InMemoryStore,
        *,
        tries_max: int = 10,
        requests: Callable[[Session], RequestStore] = InMemoryRequestStore,
    ) -> None:
        self._store = store
        self._tries_max = tries_max
        self._requests = requests

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        for _ in range(self._tries_max):
            session = self._store.session()
            try:
                result = await story(self._transaction(session))
            except OrchestratorError:
                if session.holds():
                    raise
                continue
            if session.commit():
                return result
        raise StorageUnavailable("The store is too busy with other changes; repeat the command later.")

    def _transaction(self, session: Session) -> InMemoryTransaction:
        return InMemoryTransaction(
            requests=self._requests(session),
            history=InMemoryHistory(session),
            flows=InMemoryFlowStore(session),
            request_types=InMemoryRequestTypeStore(session),
            reconciliation=InMemoryReconciliationStore(session),
        )
