"""The writes of one run, each compared with the fence, the request and the checkpoints it was computed from."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from attrs import evolve

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.errors import CheckpointMoved, LeaseLost, RequestMoved
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.in_memory.history import append_fact
from orchestrator_domain.testing.in_memory.rows import CheckpointRow, ExecutionRow, RequestRow
from orchestrator_domain.testing.in_memory.store import Session

_OVER = frozenset({CheckpointStatus.SUCCEEDED, CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN})


class FencedRun:
    """Collect what a run writes; nothing is stored before `commit`."""

    def __init__(self, session: Session, fence: Fence) -> None:
        """Raise LeaseLost unless the fence holds."""
        self.now = session.clock.now()
        self._session = session
        self._execution = self._held(fence)
        self._request = _request_row(session, self._execution)
        self._checkpoints = dict(session.checkpoints.get(fence.execution_id) or {})

    @property
    def request(self) -> Request:
        return self._request.request

    def require_accepted(self) -> None:
        """Raise RequestMoved unless the request is as it was accepted."""
        if not _as_accepted(self.request, self._execution):
            raise RequestMoved(
                "The request isn't as it was when the event was accepted; nothing was written."
            )

    def write(self, writes: Sequence[CheckpointWrite]) -> None:
        """Replace checkpoints; raise CheckpointMoved unless each is as the write expects it."""
        for write in writes:
            stored = self._checkpoints.get(write.after.action)
            if write.before != _status_and_attempts(stored):
                raise CheckpointMoved("The checkpoint has moved since this write was computed.")
            self._checkpoints[write.after.action] = self._replaced(stored, write)
        if writes:
            self._execution = evolve(self._execution, claims_without_progress=0)

    def require_succeeded(self, expected: Iterable[Checkpoint]) -> None:
        """Raise CheckpointMoved unless each is stored as SUCCEEDED with the same key, input hash and effect."""
        for checkpoint in expected:
            stored = self._checkpoints.get(checkpoint.action)
            if stored is None or not _succeeded_alike(stored.checkpoint, checkpoint):
                raise CheckpointMoved("A checkpoint that the transition rests on isn't stored as it expects.")

    def wait_until(self, moment: datetime, *, error_code: str) -> None:
        execution = evolve(
            self._execution.execution,
            status=ExecutionStatus.RETRY_WAIT,
            error_code=error_code,
            next_attempt_at=moment,
        )
        self._execution = evolve(self._execution, execution=execution, lease=None)

    def end(
        self, status: ExecutionStatus, *, error_code: str | None = None, result: JsonObject | None = None
    ) -> None:
        execution = evolve(self._execution.execution, status=status, error_code=error_code, result=result)
        self._execution = evolve(self._execution, execution=execution, lease=None)

    def move(self, request: Request) -> None:
        self._request = evolve(self._request, request=evolve(request, updated_at=self.now))

    def link(self, documents: Iterable[DocumentLink]) -> None:
        """Link documents to the request; one that is linked already stays as it is."""
        for document in documents:
            key = (self.request.id, document.document_type, document.storage_document_id)
            if self._session.documents.get(key) is None:
                self._session.documents.put(key, document)

    def append(self, fact: AuditFact) -> None:
        """Add the fact to the request's history; call it after `move`."""
        append_fact(self._session, self._request, fact)

    def commit(self) -> None:
        execution = evolve(self._execution.execution, updated_at=self.now)
        self._session.executions.put(execution.id, evolve(self._execution, execution=execution))
        self._session.checkpoints.put(execution.id, self._checkpoints)
        if not execution.status.active:
            self._session.active_executions.remove(execution.request_id)
        committed = self._session.commit()
        assert committed, "nothing else runs between the reads and the commit of one step"

    def _held(self, fence: Fence) -> ExecutionRow:
        row = self._session.executions.get(fence.execution_id)
        if row is None or not row.held_under(fence, self.now):
            raise LeaseLost("The lease of this execution is lost; nothing was written.")
        return row

    def _replaced(self, stored: CheckpointRow | None, write: CheckpointWrite) -> CheckpointRow:
        began = None if stored is None else stored.checkpoint.started_at
        if began is None:
            began = self.now
        finished_at = self.now if write.after.status in _OVER else None
        return CheckpointRow(
            id=write.id if stored is None else stored.id,
            checkpoint=evolve(write.after, started_at=began, finished_at=finished_at),
        )


def _request_row(session: Session, execution: ExecutionRow) -> RequestRow:
    row = session.requests.get(execution.execution.request_id)
    assert row is not None, "an execution's request is never removed"
    return row


def _as_accepted(request: Request, row: ExecutionRow) -> bool:
    accepted = row.execution
    return (request.state, request.revision, request.flow.id) == (
        accepted.from_state,
        accepted.accepted_revision,
        row.accepted_flow,
    )


def _status_and_attempts(stored: CheckpointRow | None) -> tuple[CheckpointStatus, int] | None:
    return None if stored is None else (stored.checkpoint.status, stored.checkpoint.attempts)


def _succeeded_alike(stored: Checkpoint, expected: Checkpoint) -> bool:
    return stored.status is CheckpointStatus.SUCCEEDED and (
        stored.external_key,
        stored.input_hash,
        stored.effect,
    ) == (expected.external_key, expected.input_hash, expected.effect)
