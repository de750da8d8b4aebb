"""What a run wants written, as one value: it can be carried out alone, again, or together with those of other runs."""

from attrs import frozen

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.identifiers import DocumentReferenceId, StateKey
from orchestrator_domain.ports.execution_queue import CheckpointWrite


@frozen(kw_only=True)
class LinkedDocument:
    """A document with the id that its row gets, the same however often the write is tried."""

    id: DocumentReferenceId
    link: DocumentLink


@frozen(kw_only=True)
class Transitioned:
    """What a completion makes of the request, and the successes that it rests on."""

    state: StateKey
    data: JsonObject
    documents: tuple[LinkedDocument, ...]
    succeeded: tuple[Checkpoint, ...]


@frozen(kw_only=True)
class Ending:
    """How the execution is given back; `delay_seconds` only for a retry."""

    status: ExecutionStatus
    fact: AuditFact
    error_code: str | None = None
    result: JsonObject | None = None
    delay_seconds: float | None = None
    transitioned: Transitioned | None = None

    @property
    def revision_step(self) -> int:
        """Bump the revision when readers of the request see a change: a transition, or its release."""
        return 0 if self.status.active else 1


@frozen(kw_only=True)
class FencedWrite:
    """Checkpoints, and the ending if there is one, under one fence: all of it or nothing."""

    fence: Fence
    checkpoints: tuple[CheckpointWrite, ...]
    ending: Ending | None = None

    @property
    def rests_on_the_request(self) -> bool:
        """Tell what goes on as accepted from the two endings that also serve an execution whose request moved."""
        return self.ending is None or self.ending.status in _GOING_ON


_GOING_ON = frozenset({ExecutionStatus.RETRY_WAIT, ExecutionStatus.SUCCEEDED})
