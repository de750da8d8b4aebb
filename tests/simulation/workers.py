"""A worker process: it claims for its free slots, runs what it has claimed, and renews what it holds."""

from collections.abc import Callable, Coroutine
from typing import Any

from attrs import define, field
from tests.simulation.promises import LEASE_SECONDS
from tests.simulation.stepping import Pause, RunCancelled, Task, pause

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, StorageUnavailable
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution, ExecutionQueue
from orchestrator_domain.usecases.run_execution import ExecutionRunner

_POLL = Pause("before a poll", idle=True)
_RENEWAL_DUE = Pause("before a renewal is due", idle=True)

type Spawn = Callable[[str, str, Coroutine[Any, Any, None]], Task]


@define(eq=False)
class SimulatedWorker:
    """One start of a worker process; its name is its own, as the protocol wants it."""

    name: str
    slots: int
    queue: ExecutionQueue
    runner: ExecutionRunner
    spawn: Spawn
    cancel: Callable[[Task], None]
    runs: dict[Fence, Task] = field(factory=dict)

    def start(self) -> None:
        self.spawn(f"{self.name} claims", self.name, self._claim_for_ever())
        self.spawn(f"{self.name} renews", self.name, self._renew_for_ever())

    async def _claim_for_ever(self) -> None:
        while True:
            await pause(_POLL)
            free = self.slots - len(self.runs)
            if free:
                await self._claim(free)

    async def _claim(self, free: int) -> None:
        owner = LeaseOwner(self.name)
        try:
            claimed = await self.queue.claim(owner=owner, limit=free, lease_seconds=LEASE_SECONDS)
        except StorageUnavailable:
            return
        for one in claimed:
            name = f"{self.name} runs {str(one.execution.id)[:13]} under token {one.fence.token}"
            self.runs[one.fence] = self.spawn(name, self.name, self._run(one))

    async def _run(self, claimed: ClaimedExecution) -> None:
        try:
            await self.runner.run(claimed)
        except (LeaseLost, CheckpointMoved, StorageUnavailable, RunCancelled):
            return
        finally:
            self.runs.pop(claimed.fence, None)

    async def _renew_for_ever(self) -> None:
        while True:
            await pause(_RENEWAL_DUE)
            held = list(self.runs)
            if held:
                await self._renew(held)

    async def _renew(self, held: list[Fence]) -> None:
        try:
            renewed = await self.queue.renew(fences=held, lease_seconds=LEASE_SECONDS)
        except StorageUnavailable:
            return
        for fence in held:
            if fence.execution_id not in renewed.not_lost and fence in self.runs:
                self.cancel(self.runs.pop(fence))
