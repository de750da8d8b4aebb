"""What the suites need of an implementation beyond its ports: ways to look, and ways to make time pass."""

from collections.abc import Sequence
from typing import Protocol

from orchestrator_domain.audit import AuditEntry
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.change_marks import ChangeMarks
from orchestrator_domain.ports.execution_queue import ExecutionQueue
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.ports.recent_past import RecentPast
from orchestrator_domain.ports.unit_of_work import UnitOfWork
from orchestrator_domain.ports.wakeup import Wakeup


class StoreHarness(Protocol):
    """Hand out the ports of one store, and reach behind them.

    The store is fresh and empty for each test. Its ports all see the same rows. Whatever reaches behind the ports acts
    at once and is durable on return; nothing of it waits for time to pass.
    """

    def unit_of_work(self) -> UnitOfWork: ...

    def queue(self) -> ExecutionQueue: ...

    def published_flows(self) -> PublishedFlows: ...

    def recent_past(self) -> RecentPast: ...

    def change_marks(self) -> ChangeMarks: ...

    async def expire_lease(self, execution_id: ExecutionId) -> None:
        """Let the lease of a claimed execution have run out a second ago; owner and token stay."""
        ...

    async def make_due(self, execution_id: ExecutionId) -> None:
        """Let the time of the execution's next attempt have come a second ago; its status stays."""
        ...

    async def move_request(self, request_id: RequestId) -> None:
        """Raise the request's revision by one, as nothing but a fault does while an execution is active."""
        ...

    async def lease_seconds_left(self, execution_id: ExecutionId) -> float:
        """Return the seconds until the lease runs out, by the store's clock; negative once it has."""
        ...

    async def history(self, request_id: RequestId) -> Sequence[AuditEntry]:
        """Return the request's whole history in order of sequence."""
        ...

    async def documents(self, request_id: RequestId) -> Sequence[DocumentLink]:
        """Return the documents linked to the request, in the order in which they were linked."""
        ...

    async def checkpoints(self, execution_id: ExecutionId) -> Sequence[Checkpoint]:
        """Return the stored checkpoints of an execution, whatever its status, in order of their action's key."""
        ...

    async def admin_facts(self) -> Sequence[AdminFact]:
        """Return every administrative act, in the order in which they were written."""
        ...


class WakeupHarness(Protocol):
    """Hand out the two ends of a wakeup, which may be one object or live in two processes."""

    def hinting(self) -> Wakeup: ...

    def waiting(self) -> Wakeup: ...

    async def break_connection(self) -> None:
        """Cut whatever carries the hints, without telling either end; do nothing where nothing can be cut."""
        ...
