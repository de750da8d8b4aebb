"""Where a simulation takes place: a store, what it looks like from behind, and its time."""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from attrs import evolve, frozen
from tests.simulation.perilous_store import InterruptedRequestStore, PerilousUnitOfWork
from tests.simulation.witness import Rows

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import RequestId, Revision
from orchestrator_domain.ports.execution_queue import ExecutionQueue
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.ports.request_store import RequestStore
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.in_memory.published_flows import InMemoryPublishedFlows
from orchestrator_domain.testing.in_memory.store import InMemoryStore, Session
from orchestrator_domain.testing.in_memory.unit_of_work import InMemoryUnitOfWork
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.usecases.run_execution import Attempt, ExecutionRunner


class Stage(Protocol):
    """Hand out the ports of a fresh store, and reach behind them."""

    def queue(self) -> ExecutionQueue: ...

    def stories(self) -> UnitOfWork: ...

    def published_flows(self) -> PublishedFlows: ...

    async def publish(self, flow: StoredFlow) -> None: ...

    async def create(self, request: Request, fact: AuditFact) -> None: ...

    async def look(self) -> tuple[Rows, datetime]:
        """Return what is stored, and the store's time."""
        ...

    async def advance(self, seconds: float) -> None:
        """Let so much time pass for every lease and every wait."""
        ...

    async def move_by_hand(self, request_id: RequestId) -> None:
        """Raise the revision of a request past all use cases."""
        ...


def _itself[Wrapped](wrapped: Wrapped) -> Wrapped:
    return wrapped


@frozen(kw_only=True)
class Make:
    """What the protocol is made of; the broken variants replace one part each."""

    queue: Callable[[InMemoryStore], ExecutionQueue] = InMemoryExecutionQueue
    requests: Callable[[Session], RequestStore] = InterruptedRequestStore
    stories: Callable[[UnitOfWork], UnitOfWork] = _itself
    runner: type[ExecutionRunner] = ExecutionRunner
    attempt: Callable[[Attempt], Attempt] = _itself


class MemoryStage(Stage):
    """The in-memory store under a clock that moves when the scheduler says so."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._clock = ManualClock()
        self._store = InMemoryStore(self._clock)
        self._rows = Rows(
            executions=self._store.executions.rows,
            requests=self._store.requests.rows,
            checkpoints=self._store.checkpoints.rows,
            history=self._store.history.rows,
        )

    def queue(self) -> ExecutionQueue:
        return self._make.queue(self._store)

    def stories(self) -> UnitOfWork:
        stories = InMemoryUnitOfWork(self._store, requests=self._make.requests)
        return self._make.stories(PerilousUnitOfWork(stories, shared=True))

    def published_flows(self) -> PublishedFlows:
        return InMemoryPublishedFlows(self._store)

    async def publish(self, flow: StoredFlow) -> None:
        self._store.flows.rows[flow.id] = flow

    async def create(self, request: Request, fact: AuditFact) -> None:
        async def story(work: Transaction) -> None:
            await work.requests.add(request, fact)

        await InMemoryUnitOfWork(self._store).run(story)

    async def look(self) -> tuple[Rows, datetime]:
        return self._rows, self._clock.now()

    async def advance(self, seconds: float) -> None:
        self._clock.advance(seconds)

    async def move_by_hand(self, request_id: RequestId) -> None:
        row = self._store.requests.rows[request_id]
        moved = evolve(row.request, revision=Revision(row.request.revision + 1))
        self._store.requests.rows[request_id] = evolve(row, request=moved)
