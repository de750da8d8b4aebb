"""Executions as operators need them: those that wait for one, and what was resolved, inside one transaction."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.probe import ProbesMade
from orchestrator_domain.execution.reconciliation import Evidence, ResolutionKind, Resolved
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    CorrelationId,
    ExecutionId,
    IdempotencyKey,
    ResolutionId,
    Sha256Hex,
    Subject,
)
from orchestrator_domain.request.request import Request


@frozen(kw_only=True)
class ExecutionCase:
    """An execution with its request and every checkpoint, in no order that means anything.

    `probes` is what the history tells of the status queries about its last action in doubt; None if there were none.
    """

    execution: Execution
    request: Request
    checkpoints: tuple[Checkpoint, ...]
    probes: ProbesMade | None = None

    @property
    def as_accepted(self) -> bool:
        """Say whether the request still is as the event found it."""
        return (self.request.state, self.request.revision) == (
            self.execution.from_state,
            self.execution.accepted_revision,
        )


@frozen(kw_only=True)
class CasePosition:
    """A place in the list of cases: right behind the execution that has stood like this since then."""

    since: datetime
    execution_id: ExecutionId


@frozen(kw_only=True)
class ResolutionRecord:
    """One row of reconciliation_resolution. `created_at` is the store's; None before it is saved."""

    id: ResolutionId
    execution_id: ExecutionId
    key: IdempotencyKey
    payload_hash: Sha256Hex
    action: ActionKey | None
    kind: ResolutionKind
    evidence: Evidence
    result: JsonObject | None
    operator: Subject
    correlation_id: CorrelationId | None
    created_at: datetime | None = None


class ReconciliationStore(Protocol):
    """Show operators what stopped, and keep what they resolved.

    Promises: whatever takes scopes filters by them where rows are read, so an execution elsewhere is None; owning a
    request shows nothing here. `list_cases` goes by the moment of the last change and then by id, begins behind `after`
    and returns at most `limit` executions in `status`, which is an active one, with the data of request and event left
    empty, for they may be large. `lock_case` waits for other writers of
    the request, the execution and its checkpoints, and then reads what they committed. `save` writes execution,
    checkpoint, record and fact together, for a case that was locked in this transaction: a resumed execution is due at
    once with its claims counted afresh, a closed one releases its request and bumps the revision; the fencing token
    stays, so that it only ever grows, and tells the stops of one execution apart. Records are only ever added; `resolutions` gives them in the order of writing.
    """

    async def list_cases(
        self,
        scopes: Collection[BusinessScope],
        *,
        status: ExecutionStatus,
        after: CasePosition | None,
        limit: int,
    ) -> Sequence[ExecutionCase]: ...

    async def find_case(
        self, execution_id: ExecutionId, scopes: Collection[BusinessScope]
    ) -> ExecutionCase | None: ...

    async def lock_case(
        self, execution_id: ExecutionId, scopes: Collection[BusinessScope]
    ) -> ExecutionCase | None: ...

    async def resolutions(self, execution_id: ExecutionId) -> Sequence[ResolutionRecord]: ...

    async def save(
        self, case: ExecutionCase, resolved: Resolved, *, record: ResolutionRecord, fact: AuditFact
    ) -> Execution: ...
