"""Resolutions with one protection left out. Each is here to be caught."""

from attrs import evolve

from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.reconciliation import ResolveCommand, Stop
from orchestrator_domain.identifiers import FencingToken, IdempotencyKey
from orchestrator_domain.ports.reconciliation_store import ExecutionCase, ResolutionRecord
from orchestrator_domain.ports.unit_of_work import Transaction


def admitted_whatever_it_is_doing(_command: ResolveCommand, _execution: Execution, _stop: Stop) -> None:
    """Take any resolution, whether a worker holds the execution or not."""


def of_whichever_stop(_command: ResolveCommand, _stop: Stop) -> None:
    """Take a resolution for the stop that it finds, whichever was verified."""


def resumed_with_a_token_from_the_start(execution: Execution) -> Execution:
    return evolve(execution, status=ExecutionStatus.PENDING, error_code=None, fencing_token=FencingToken(0))


def afresh_under_another_key(checkpoint: Checkpoint) -> Checkpoint:
    return Checkpoint(
        action=checkpoint.action,
        status=CheckpointStatus.PENDING,
        attempts=0,
        external_key=f"{checkpoint.external_key}:again",
        input_hash=checkpoint.input_hash,
        effect=checkpoint.effect,
    )


async def no_earlier_one(
    _work: Transaction, _case: ExecutionCase, _key: IdempotencyKey
) -> ResolutionRecord | None:
    return None
