"""The durable queue of executions, as a worker needs it."""

from collections.abc import Collection, Sequence
from typing import Protocol

from attrs import frozen

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import Execution, Fence
from orchestrator_domain.identifiers import CheckpointId, ExecutionId, LeaseOwner
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class ClaimedExecution:
    """All that a run needs, read in the transaction of its claim.

    `claims_without_progress` counts the claims since the last checkpoint write, this one included.
    """

    fence: Fence
    execution: Execution
    request: Request
    checkpoints: tuple[Checkpoint, ...]
    claims_without_progress: int = 1


@frozen(kw_only=True)
class CheckpointWrite:
    """Replace a checkpoint, provided that it still is as it was: `before` is status and attempts, None for a new one.

    `id` is used for a new row only.
    """

    id: CheckpointId
    after: Checkpoint
    before: tuple[CheckpointStatus, int] | None


@frozen(kw_only=True)
class Renewed:
    """Where leases stand after a renewal, by their executions; what is in neither set is lost.

    `held` runs on. `given_back` was ended under the very token that was asked about: by its own run, which may not have
    heard so yet.
    """

    held: frozenset[ExecutionId] = frozenset()
    given_back: frozenset[ExecutionId] = frozenset()

    @property
    def not_lost(self) -> frozenset[ExecutionId]:
        return self.held | self.given_back


class ExecutionQueue(Protocol):
    """Hand out executions under leases and take back what their runs found.

    Promises:
    - `claim` takes what is due (PENDING, RETRY_WAIT whose time has come, RUNNING whose lease has run out), in the
      order of next attempt and creation, at most `limit`, never one that another owner holds; it raises the fencing
      token and is durable on return.
    - `renew` extends each lease that still runs and is still held under the same owner and token, and tells those from
      what was given back and from what is lost; a lease that has run out is not revived.
    - every other method writes all of what it is given or nothing: it raises LeaseLost unless owner, token and running
      lease hold at the moment of the write, and CheckpointMoved unless each `before` still holds.
    - `checkpoint`, `retry_later` and `complete` raise RequestMoved unless state, revision and flow of the request are
      as accepted; `fail` and `require_reconciliation` don't ask, for they are how such an execution ends.
    - `complete` also requires that every checkpoint named in `succeeded` is stored as SUCCEEDED with the same key,
      input hash and effect. If it raises anything but LeaseLost, nothing of it is stored, the last success included.
    - `fail` releases the request and bumps its revision; `require_reconciliation` keeps it blocked.
    - the store's clock decides all of it.
    """

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]: ...

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed: ...

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None: ...

    async def retry_later(
        self,
        fence: Fence,
        writes: Sequence[CheckpointWrite],
        *,
        delay_seconds: float,
        error_code: str,
        fact: AuditFact,
    ) -> None: ...

    async def fail(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None: ...

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None: ...

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None: ...
