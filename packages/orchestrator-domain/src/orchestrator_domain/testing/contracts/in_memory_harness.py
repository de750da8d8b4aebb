"""The harness of the in-memory store."""

from collections.abc import Sequence
from datetime import timedelta

from attrs import evolve

from orchestrator_domain.audit import AuditEntry
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.identifiers import ExecutionId, RequestId, Revision
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.testing.contracts.harness import StoreHarness, WakeupHarness
from orchestrator_domain.testing.in_memory.change_marks import InMemoryChangeMarks
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.in_memory.history import history
from orchestrator_domain.testing.in_memory.published_flows import InMemoryPublishedFlows
from orchestrator_domain.testing.in_memory.recent_past import InMemoryRecentPast
from orchestrator_domain.testing.in_memory.rows import ExecutionRow
from orchestrator_domain.testing.in_memory.store import InMemoryStore
from orchestrator_domain.testing.in_memory.unit_of_work import InMemoryUnitOfWork
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock

_SECOND = timedelta(seconds=1)


class InMemoryHarness(StoreHarness):
    """A store whose clock moves on by a microsecond at each reading, so that no two moments are one."""

    def __init__(self) -> None:
        self.clock = ManualClock(tick_seconds=0.000001)
        self.store = InMemoryStore(self.clock)

    def unit_of_work(self) -> InMemoryUnitOfWork:
        return InMemoryUnitOfWork(self.store)

    def queue(self) -> InMemoryExecutionQueue:
        return InMemoryExecutionQueue(self.store)

    def published_flows(self) -> InMemoryPublishedFlows:
        return InMemoryPublishedFlows(self.store)

    def recent_past(self) -> InMemoryRecentPast:
        return InMemoryRecentPast(self.store)

    def change_marks(self) -> InMemoryChangeMarks:
        return InMemoryChangeMarks(self.store)

    async def expire_lease(self, execution_id: ExecutionId) -> None:
        row = self._row(execution_id)
        assert row.lease is not None, "a lease that is to expire has been given"
        lease = evolve(row.lease, until=self.clock.now() - _SECOND)
        self.store.executions.rows[execution_id] = evolve(row, lease=lease)

    async def make_due(self, execution_id: ExecutionId) -> None:
        row = self._row(execution_id)
        execution = evolve(row.execution, next_attempt_at=self.clock.now() - _SECOND)
        self.store.executions.rows[execution_id] = evolve(row, execution=execution)

    async def move_request(self, request_id: RequestId) -> None:
        row = self.store.requests.rows[request_id]
        moved = evolve(row.request, revision=Revision(row.request.revision + 1))
        self.store.requests.rows[request_id] = evolve(row, request=moved)

    async def lease_seconds_left(self, execution_id: ExecutionId) -> float:
        lease = self._row(execution_id).lease
        assert lease is not None, "a lease has been given"
        return (lease.until - self.clock.now()).total_seconds()

    async def history(self, request_id: RequestId) -> Sequence[AuditEntry]:
        return history(self.store, request_id)

    async def documents(self, request_id: RequestId) -> Sequence[DocumentLink]:
        return [
            link for (linked_to, *_), link in self.store.documents.rows.items() if linked_to == request_id
        ]

    async def checkpoints(self, execution_id: ExecutionId) -> Sequence[Checkpoint]:
        rows = self.store.checkpoints.rows.get(execution_id, {})
        return [rows[action].read_at(self.clock.now()) for action in sorted(rows)]

    async def admin_facts(self) -> Sequence[AdminFact]:
        return list(self.store.admin_facts.rows.values())

    def _row(self, execution_id: ExecutionId) -> ExecutionRow:
        return self.store.executions.rows[execution_id]


class InMemoryWakeupHarness(WakeupHarness):
    """One object at both ends; there is no connection to break."""

    def __init__(self) -> None:
        self._wakeup = InMemoryWakeup(ManualClock(tick_seconds=0.001))

    def hinting(self) -> InMemoryWakeup:
        return self._wakeup

    def waiting(self) -> InMemoryWakeup:
        return self._wakeup

    async def break_connection(self) -> None:
        """Do nothing."""
