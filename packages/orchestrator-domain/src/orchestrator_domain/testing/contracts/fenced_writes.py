"""The writes of a run, each in one shape, so that a suite can hold all of them to the same promise."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import StateKey
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution
from orchestrator_domain.testing.contracts.stored_cases import StoredCases

type FencedWrite = Callable[
    [StoredCases, ClaimedExecution, Fence, Sequence[CheckpointWrite]], Coroutine[Any, Any, None]
]

LENT = Completion(
    state=StateKey("LENT"), data={"item": "ladder", "lookup": {"found": True}}, result={"outcome": "FOUND"}
)


async def checkpoint(
    cases: StoredCases,
    claimed: ClaimedExecution,  # noqa: ARG001  # one shape for all writes
    fence: Fence,
    writes: Sequence[CheckpointWrite],
) -> None:
    await cases.harness.queue().checkpoint(fence, writes)


async def retry_later(
    cases: StoredCases, claimed: ClaimedExecution, fence: Fence, writes: Sequence[CheckpointWrite]
) -> None:
    fact = cases.fact(claimed.request, AuditKind.ACTION_RETRY_SCHEDULED, claimed.execution.id)
    await cases.harness.queue().retry_later(
        fence, writes, delay_seconds=3600.0, error_code="PROVIDER_TIMEOUT", fact=fact
    )


async def fail(
    cases: StoredCases, claimed: ClaimedExecution, fence: Fence, writes: Sequence[CheckpointWrite]
) -> None:
    fact = cases.fact(claimed.request, AuditKind.EXECUTION_FAILED, claimed.execution.id)
    await cases.harness.queue().fail(fence, writes, error_code="PROVIDER_REJECTED", fact=fact)


async def require_reconciliation(
    cases: StoredCases, claimed: ClaimedExecution, fence: Fence, writes: Sequence[CheckpointWrite]
) -> None:
    fact = cases.fact(claimed.request, AuditKind.RECONCILIATION_REQUIRED, claimed.execution.id)
    await cases.harness.queue().require_reconciliation(
        fence, writes, error_code="EFFECT_UNCERTAIN", fact=fact
    )


async def complete(
    cases: StoredCases, claimed: ClaimedExecution, fence: Fence, writes: Sequence[CheckpointWrite]
) -> None:
    fact = cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    await cases.harness.queue().complete(fence, LENT, writes=writes, succeeded=[], fact=fact)


async def complete_resting_on(cases: StoredCases, claimed: ClaimedExecution, success: Checkpoint) -> None:
    """Complete a transition that needs this success to be stored."""
    fact = cases.fact(claimed.request, AuditKind.TRANSITION_COMPLETED, claimed.execution.id)
    await cases.harness.queue().complete(claimed.fence, LENT, writes=[], succeeded=[success], fact=fact)


FENCED_WRITES: tuple[FencedWrite, ...] = (checkpoint, retry_later, fail, require_reconciliation, complete)
WRITES_WITH_A_FACT: tuple[FencedWrite, ...] = (retry_later, fail, require_reconciliation, complete)
ENDINGS: tuple[FencedWrite, ...] = (fail, require_reconciliation, complete)
ENDINGS_WITHOUT_TRANSITION: tuple[FencedWrite, ...] = (fail, require_reconciliation)
WRITES_AS_ACCEPTED: tuple[FencedWrite, ...] = (checkpoint, retry_later, complete)
