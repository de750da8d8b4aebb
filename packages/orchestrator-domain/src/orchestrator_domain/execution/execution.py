"""One accepted event on its way: statuses, their one table of legal moves, and the lease."""

from datetime import datetime
from enum import StrEnum

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import (
    CorrelationId,
    EventKey,
    ExecutionId,
    FencingToken,
    IdempotencyKey,
    LeaseOwner,
    RequestId,
    Revision,
    Sha256Hex,
    StateKey,
    TraceParent,
    TransitionKey,
)


class ExecutionStatus(StrEnum):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    RETRY_WAIT = "RETRY_WAIT"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    RECONCILIATION_REQUIRED = "RECONCILIATION_REQUIRED"

    @property
    def active(self) -> bool:
        """Say whether the execution still blocks its request."""
        return self not in (ExecutionStatus.SUCCEEDED, ExecutionStatus.FAILED)


LEGAL_MOVES: dict[ExecutionStatus, frozenset[ExecutionStatus]] = {
    ExecutionStatus.PENDING: frozenset({ExecutionStatus.RUNNING}),
    ExecutionStatus.RUNNING: frozenset(
        {
            ExecutionStatus.RUNNING,
            ExecutionStatus.RETRY_WAIT,
            ExecutionStatus.SUCCEEDED,
            ExecutionStatus.FAILED,
            ExecutionStatus.RECONCILIATION_REQUIRED,
        }
    ),
    ExecutionStatus.RETRY_WAIT: frozenset({ExecutionStatus.RUNNING}),
    ExecutionStatus.RECONCILIATION_REQUIRED: frozenset({ExecutionStatus.PENDING, ExecutionStatus.FAILED}),
    ExecutionStatus.SUCCEEDED: frozenset(),
    ExecutionStatus.FAILED: frozenset(),
}


@frozen(kw_only=True)
class Fence:
    """What every write of a worker is compared with: who holds the execution, under which token.

    Whether the lease is still running is the store's clock's to say, so no time is kept here.
    """

    execution_id: ExecutionId
    request_id: RequestId
    owner: LeaseOwner
    token: FencingToken


@frozen(kw_only=True)
class Execution:
    """One row of execution, as acceptance writes it and readers see it.

    `result` is the business result of SUCCEEDED, `error_code` the stable reason of FAILED, RETRY_WAIT and
    RECONCILIATION_REQUIRED. Times are the store's; None before the first save.
    """

    id: ExecutionId
    request_id: RequestId
    idempotency_key: IdempotencyKey
    payload_hash: Sha256Hex
    actor: Actor
    event: EventKey
    event_data: JsonObject
    transition: TransitionKey
    from_state: StateKey
    accepted_revision: Revision
    status: ExecutionStatus = ExecutionStatus.PENDING
    attempts: int = 0
    fencing_token: FencingToken = FencingToken(0)
    correlation_id: CorrelationId | None = None
    trace_parent: TraceParent | None = None
    result: JsonObject | None = None
    error_code: str | None = None
    next_attempt_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
