"""What one row may become, and what it must have, as the protocol promises it."""

from datetime import datetime, timedelta

from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.testing.in_memory.rows import ExecutionRow

LEASE_SECONDS = 60.0
_WAIT_MAX = timedelta(hours=1)

LEGAL_MOVES: dict[ExecutionStatus, tuple[ExecutionStatus, ...]] = {
    ExecutionStatus.PENDING: (ExecutionStatus.RUNNING,),
    ExecutionStatus.RETRY_WAIT: (ExecutionStatus.RUNNING,),
    ExecutionStatus.RUNNING: tuple(
        status for status in ExecutionStatus if status is not ExecutionStatus.PENDING
    ),
    ExecutionStatus.RECONCILIATION_REQUIRED: (ExecutionStatus.PENDING, ExecutionStatus.FAILED),
    ExecutionStatus.SUCCEEDED: (),
    ExecutionStatus.FAILED: (),
}


class Violation(BaseException):
    """A promise of the protocol is broken. Nothing under test may catch it."""


def require(holds: bool, promise: str) -> None:  # noqa: FBT001 - it reads as an assertion does
    """Raise Violation unless it holds."""
    if not holds:
        raise Violation(promise)


def require_something_wakes(row: ExecutionRow, now: datetime) -> None:
    """Require that a live row is due some day, or has a lease that runs out."""
    execution, lease = row.execution, row.lease
    if execution.status is ExecutionStatus.RUNNING:
        require(lease is not None, "A RUNNING execution has no lease that could run out.")
        assert lease is not None
        bound = now + timedelta(seconds=LEASE_SECONDS)
        require(lease.until <= bound, "A lease is longer than a lease may be.")
        return
    require(lease is None, f"An execution that is {execution.status} still has a lease.")
    if execution.status in (ExecutionStatus.PENDING, ExecutionStatus.RETRY_WAIT):
        due = execution.next_attempt_at
        require(due is not None and due <= now + _WAIT_MAX, "Nothing will wake a waiting execution.")
        if execution.status is ExecutionStatus.RETRY_WAIT:
            at_once = execution.error_code == "EFFECT_CONFIRMED"
            require(due is not None and (due > now or at_once), "A retry waits for nothing.")


def require_checkpoint_move(before: Checkpoint, after: Checkpoint) -> None:
    """Require that what is known of an action only grows."""
    action, running = after.action, after.status is CheckpointStatus.RUNNING
    over = (CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN)
    require(before.status is not CheckpointStatus.SUCCEEDED, f"{action} had SUCCEEDED and was written again.")
    # What is over may be written as it is, with an end that couldn't be stored at first.
    require(before.status not in over or after.status is before.status, f"{action} was over and went on.")
    counted = before.attempts - 1 if is_taken_back(before, after) else before.attempts + running
    require(after.attempts == counted, f"The attempts of {action} were miscounted.")
    _require_same_work(before, after)
    require(
        after.uncertain or not before.uncertain or after.status is CheckpointStatus.SUCCEEDED,
        f"The uncertainty about {action} was forgotten.",
    )


def require_confirmed_checkpoint(before: Checkpoint, after: Checkpoint) -> None:
    """Require that a probe's confirmation changed nothing but that the doubt is settled."""
    require(after.attempts == before.attempts, f"The attempts of {after.action} were miscounted.")
    require(not after.uncertain, f"A confirmation left {after.action} uncertain.")
    _require_same_work(before, after)


def require_first_word(after: Checkpoint) -> None:
    """Require that the first that is stored of an action is its start, or that it was held back before it."""
    started = after.status is CheckpointStatus.RUNNING and after.attempts == 1
    held = (after.status, after.attempts, after.error_code) == (CheckpointStatus.PENDING, 0, "CIRCUIT_OPEN")
    require(started or held, f"The first word on {after.action} isn't its start.")


def require_resolved_checkpoint(before: Checkpoint, after: Checkpoint) -> None:
    """Require that an operator either confirmed what had happened, or let the same work begin afresh."""
    action, confirmed = after.action, after.status is CheckpointStatus.SUCCEEDED
    require(before.status is not CheckpointStatus.SUCCEEDED, f"{action} had SUCCEEDED and was written again.")
    afresh = (after.status, after.attempts) == (CheckpointStatus.PENDING, 0)
    require(confirmed or afresh, f"A resolution left {action} {after.status}.")
    require(afresh or after.attempts == before.attempts, f"The attempts of {action} were miscounted.")
    require(not after.uncertain, f"A resolution left {action} uncertain.")
    _require_same_work(before, after)


def _require_same_work(before: Checkpoint, after: Checkpoint) -> None:
    require(
        (after.external_key, after.input_hash, after.effect)
        == (before.external_key, before.input_hash, before.effect),
        f"{after.action} was stored as another work than it was.",
    )


def is_taken_back(before: Checkpoint, after: Checkpoint) -> bool:
    """Say whether an attempt was started and then not made, because its circuit was open."""
    started = before.status is CheckpointStatus.RUNNING and after.status is CheckpointStatus.PENDING
    return started and after.error_code == "CIRCUIT_OPEN" and after.attempts < before.attempts
