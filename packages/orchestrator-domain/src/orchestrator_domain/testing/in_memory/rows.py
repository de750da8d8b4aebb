"""What the tables of the in-memory store hold."""

from datetime import datetime

from attrs import evolve, frozen

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import Execution, ExecutionStatus, Fence
from orchestrator_domain.identifiers import CheckpointId, FlowId, LeaseOwner, Sha256Hex
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class RequestRow:
    """A request with its initial data and the end of its history's chain."""

    request: Request
    initial_data: JsonObject
    audit_sequence: int
    audit_head: Sha256Hex


@frozen(kw_only=True)
class Lease:
    owner: LeaseOwner
    until: datetime


@frozen(kw_only=True)
class ExecutionRow:
    """An execution with the flow it was accepted under, its lease while it is claimed, and its claims so far."""

    execution: Execution
    accepted_flow: FlowId
    lease: Lease | None = None
    claims_without_progress: int = 0

    def held_under(self, fence: Fence, now: datetime) -> bool:
        """Say whether owner, token and running lease hold; a lease is there only while RUNNING."""
        return (
            self.lease is not None
            and self.lease.owner == fence.owner
            and self.lease.until > now
            and self.execution.fencing_token == fence.token
            and self.execution.request_id == fence.request_id
        )

    def given_back_under(self, fence: Fence) -> bool:
        """Say whether the run that this fence belongs to has ended it: nobody has claimed it since."""
        return (
            self.execution.status is not ExecutionStatus.RUNNING
            and self.execution.fencing_token == fence.token
            and self.execution.request_id == fence.request_id
        )


@frozen(kw_only=True)
class CheckpointRow:
    """A checkpoint as it was last written; `started_at` is when it was first up for an attempt."""

    id: CheckpointId
    checkpoint: Checkpoint

    def read_at(self, now: datetime) -> Checkpoint:
        """Return the checkpoint with the ages of its first attempt and of its end at this moment."""
        return evolve(
            self.checkpoint,
            first_attempt_age_seconds=_age_seconds(self.checkpoint.started_at, now),
            ended_age_seconds=_age_seconds(self.checkpoint.finished_at, now),
        )


def _age_seconds(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else (now - moment).total_seconds()
