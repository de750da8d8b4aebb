"""The ports of a store with a Pause before and after each call, where the call or its answer may get lost."""

from collections.abc import Awaitable, Callable, Collection, Sequence

from attrs import evolve, frozen
from tests.simulation.stepping import Pause, pause
from tests.simulation.witness import Witness

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact
from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import LeaseOwner, RequestId
from orchestrator_domain.ports.execution_queue import (
    CheckpointWrite,
    ClaimedExecution,
    ExecutionQueue,
    Renewed,
)
from orchestrator_domain.ports.request_store import VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.testing.in_memory.request_store import InMemoryRequestStore


class _CallLost(StorageUnavailable):
    def __init__(self) -> None:
        super().__init__("The store didn't answer; whether it has written is unknown.")


def _before(what: str) -> Awaitable[None]:
    return pause(Pause(f"before {what}", loses=_CallLost))


def _after(what: str) -> Awaitable[None]:
    return pause(Pause(f"after {what}", loses=_CallLost))


@frozen
class PerilousQueue(ExecutionQueue):
    """Pass calls on to a queue; each write under a fence that doesn't hold is told to the witness."""

    queue: ExecutionQueue
    witness: Witness

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        await _before("a claim")
        claimed = await self.queue.claim(owner=owner, limit=limit, lease_seconds=lease_seconds)
        await _after("a claim")
        return claimed

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        await _before("a renewal")
        holding = {fence.execution_id for fence in fences if self.witness.holds(fence)}
        renewed = await self.queue.renew(fences=fences, lease_seconds=lease_seconds)
        if renewed.held - holding:
            self.witness.wrote_stale("a renewal")
        await _after("a renewal")
        return renewed

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        await self._written("a checkpoint", fence, lambda: self.queue.checkpoint(fence, writes))

    async def retry_later(
        self,
        fence: Fence,
        writes: Sequence[CheckpointWrite],
        *,
        delay_seconds: float,
        error_code: str,
        fact: AuditFact,
    ) -> None:
        def write() -> Awaitable[None]:
            return self.queue.retry_later(
                fence, writes, delay_seconds=delay_seconds, error_code=error_code, fact=fact
            )

        await self._written("a wait", fence, write)

    async def fail(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        def write() -> Awaitable[None]:
            return self.queue.fail(fence, writes, error_code=error_code, fact=fact)

        await self._written("a failure", fence, write)

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        def write() -> Awaitable[None]:
            return self.queue.require_reconciliation(fence, writes, error_code=error_code, fact=fact)

        await self._written("a stop for reconciliation", fence, write)

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        def write() -> Awaitable[None]:
            return self.queue.complete(fence, completion, writes=writes, succeeded=succeeded, fact=fact)

        await self._written("a completion", fence, write)

    async def _written(self, what: str, fence: Fence, write: Callable[[], Awaitable[None]]) -> None:
        await _before(what)
        holds = self.witness.holds(fence)
        if not holds:
            self.witness.stale_write(what)
        await write()
        if not holds:
            self.witness.wrote_stale(what)
        await _after(what)


@frozen
class PerilousUnitOfWork(UnitOfWork):
    """Pause around a transaction, and before its commit where `shared` says that others may go on meanwhile."""

    stories: UnitOfWork
    shared: bool

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async def interrupted(work: Transaction) -> Result:
            result = await story(work)
            await _before("the commit")
            return result

        await _before("a transaction")
        result = await self.stories.run(interrupted if self.shared else story)
        await _after("the commit")
        return result


class InterruptedRequestStore(InMemoryRequestStore):
    """Let others go on between reading a request and deciding about it."""

    async def lock_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        found = await super().lock_visible(request_id, actor)
        await pause(Pause("after reading the request"))
        return None if found is None else evolve(found)
