"""What a queue promises, said once more as a small model without a store, a clock or a lock."""

from attrs import define, field

from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution

REVISION_STEPS = {ExecutionStatus.FAILED: 1, ExecutionStatus.SUCCEEDED: 1}

type StoredCheckpoint = tuple[CheckpointStatus, int]


@define(kw_only=True)
class ModelExecution:
    """What is known of one execution. `due` says whether its next attempt's time has come."""

    revision: int
    history: int
    status: ExecutionStatus = ExecutionStatus.PENDING
    owner: LeaseOwner | None = None
    lease_runs: bool = False
    due: bool = True
    token: int = 0
    attempts: int = 0
    claims_without_progress: int = 0
    checkpoint: StoredCheckpoint | None = None

    @property
    def claimable(self) -> bool:
        if self.status is ExecutionStatus.RUNNING:
            return not self.lease_runs
        return self.due and self.status in (ExecutionStatus.PENDING, ExecutionStatus.RETRY_WAIT)

    def is_held_under(self, claimed: ClaimedExecution) -> bool:
        return (
            self.status is ExecutionStatus.RUNNING
            and self.lease_runs
            and (self.owner, self.token) == (claimed.fence.owner, claimed.fence.token)
        )

    def was_given_back_under(self, claimed: ClaimedExecution) -> bool:
        return self.status is not ExecutionStatus.RUNNING and self.token == claimed.fence.token

    def claim(self, owner: LeaseOwner) -> None:
        self.status, self.owner, self.lease_runs = ExecutionStatus.RUNNING, owner, True
        self.token += 1
        self.attempts += 1
        self.claims_without_progress += 1

    def write(self, checkpoint: StoredCheckpoint | None, ending: ExecutionStatus | None) -> None:
        """Store a checkpoint, if there is one, and end the run, if it ends."""
        if checkpoint is not None:
            self.checkpoint, self.claims_without_progress = checkpoint, 0
        if ending is not None:
            self.status, self.owner, self.lease_runs, self.due = ending, None, False, False
            self.history += 1
            self.revision += REVISION_STEPS.get(ending, 0)


@define
class QueueModel:
    """Every execution by the name that its id is."""

    executions: dict[str, ModelExecution] = field(factory=dict)

    def of(self, claimed: ClaimedExecution) -> ModelExecution:
        return self.executions[str(claimed.execution.id)]

    def claimable(self) -> set[str]:
        return {name for name, execution in self.executions.items() if execution.claimable}
