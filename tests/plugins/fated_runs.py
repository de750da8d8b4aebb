"""Runs that die at a chosen await, before or after what they awaited."""

from collections.abc import Sequence
from typing import Any

from attrs import define, frozen
from tests.plugins.embedded_service import EmbeddedService

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.scripted_handlers import SimulatedCrash


@frozen
class CrashPoint:
    """The await, counted from 1 over all runs of an execution, and whether its work is done when the run dies."""

    await_number: int
    after: bool

    def __str__(self) -> str:
        return f"{'after' if self.after else 'before'}-{self.await_number}"


@define
class Fate:
    """Count awaits, and end the process at those that were chosen."""

    crashes: tuple[CrashPoint, ...]
    awaits: int = 0

    def begin(self) -> None:
        self.awaits += 1
        self._crash_if_chosen(after=False)

    def end(self) -> None:
        self._crash_if_chosen(after=True)

    def _crash_if_chosen(self, *, after: bool) -> None:
        if CrashPoint(self.awaits, after) in self.crashes:
            raise SimulatedCrash("The process ended here.")


class FatedQueue(InMemoryExecutionQueue):
    """An in-memory queue whose caller may die before and after each write."""

    def __init__(self, service: EmbeddedService, fate: Fate) -> None:
        super().__init__(service.harness.store)
        self._fate = fate

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        self._fate.begin()
        await super().checkpoint(fence, writes)
        self._fate.end()

    async def retry_later(self, fence: Fence, writes: Sequence[CheckpointWrite], **rest: Any) -> None:
        self._fate.begin()
        await super().retry_later(fence, writes, **rest)
        self._fate.end()

    async def fail(self, fence: Fence, writes: Sequence[CheckpointWrite], **rest: Any) -> None:
        self._fate.begin()
        await super().fail(fence, writes, **rest)
        self._fate.end()

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        self._fate.begin()
        await super().require_reconciliation(fence, writes, error_code=error_code, fact=fact)
        self._fate.end()

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        self._fate.begin()
        await super().complete(fence, completion, writes=writes, succeeded=succeeded, fact=fact)
        self._fate.end()


def points(awaits: int) -> list[CrashPoint]:
    return [CrashPoint(number, after) for number in range(1, awaits + 1) for after in (False, True)]
