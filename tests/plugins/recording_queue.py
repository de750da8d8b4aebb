"""A queue that remembers what was written through it, and fails where a test says so."""

from collections.abc import Sequence

from tests.plugins.embedded_service import EmbeddedService

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue


class RecordingQueue(InMemoryExecutionQueue):
    """Keep the names of the writes and the statuses that each carried; fail those that a test names."""

    def __init__(self, service: EmbeddedService, *, failing: dict[str, Exception] | None = None) -> None:
        super().__init__(service.harness.store)
        self.writes: list[tuple[str, list[str]]] = []
        self._failing = failing or {}

    def _record(self, name: str, writes: Sequence[CheckpointWrite]) -> None:
        self.writes.append((name, [f"{one.after.action} {one.after.status}" for one in writes]))
        if name in self._failing:
            raise self._failing[name]

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        self._record("checkpoint", writes)
        await super().checkpoint(fence, writes)

    async def fail(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        self._record("fail", writes)
        await super().fail(fence, writes, error_code=error_code, fact=fact)

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        self._record("require_reconciliation", writes)
        await super().require_reconciliation(fence, writes, error_code=error_code, fact=fact)

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        self._record("complete", writes)
        await super().complete(fence, completion, writes=writes, succeeded=succeeded, fact=fact)
