"""Who watches the store and the providers, and says at once which promise was broken.

It compares what is stored after each step with what was stored before it, and shares no code with what it watches.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from attrs import define, field, frozen
from tests.simulation.promises import (
    LEGAL_MOVES,
    Violation,
    is_taken_back,
    require,
    require_checkpoint_move,
    require_confirmed_checkpoint,
    require_first_word,
    require_resolved_checkpoint,
    require_something_wakes,
)
from tests.simulation.resolutions_seen import ResolutionsSeen
from tests.simulation.scenarios import EFFECTS, Scenario

from orchestrator_domain.audit import AuditEntry, AuditKind, verify_chain
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus, Fence
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import ActionKey, ExecutionId, IdempotencyKey, RequestId, Sha256Hex
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.in_memory.rows import CheckpointRow, ExecutionRow, RequestRow


@frozen(kw_only=True)
class Rows:
    """What is stored; a witness compares rows, so they may be the store's own tables."""

    executions: Mapping[ExecutionId, ExecutionRow]
    requests: Mapping[RequestId, RequestRow]
    checkpoints: Mapping[ExecutionId, Mapping[ActionKey, CheckpointRow]]
    history: Mapping[tuple[RequestId, int], AuditEntry]


_BUMPS = (AuditKind.EVENT_ACCEPTED, AuditKind.TRANSITION_COMPLETED, AuditKind.EXECUTION_FAILED)
_KIND_OF_END = {
    ExecutionStatus.SUCCEEDED: AuditKind.TRANSITION_COMPLETED,
    ExecutionStatus.FAILED: AuditKind.EXECUTION_FAILED,
    ExecutionStatus.RECONCILIATION_REQUIRED: AuditKind.RECONCILIATION_REQUIRED,
    ExecutionStatus.RETRY_WAIT: AuditKind.ACTION_RETRY_SCHEDULED,
}


@define(eq=False)
class Witness:
    """Hold what was seen last, and every effect and answer so far."""

    scenario: Scenario
    rows: Rows
    now: datetime
    effects: Counter[tuple[ExecutionId, ActionKey]] = field(factory=Counter)
    confirmed: set[tuple[ExecutionId, ActionKey]] = field(factory=set)
    acknowledged: dict[tuple[RequestId, IdempotencyKey], tuple[ExecutionId, Sha256Hex]] = field(factory=dict)
    moved_by_hand: dict[RequestId, int] = field(factory=dict)
    operated: bool = False
    resolutions: ResolutionsSeen = field(factory=ResolutionsSeen)
    _executions: dict[ExecutionId, ExecutionRow] = field(factory=dict)
    _requests: dict[RequestId, RequestRow] = field(factory=dict)
    _checkpoints: dict[ExecutionId, Mapping[ActionKey, CheckpointRow]] = field(factory=dict)
    _started: dict[tuple[ExecutionId, ActionKey, int], datetime] = field(factory=dict)
    _called: set[tuple[ExecutionId, ActionKey, int]] = field(factory=set)
    _stale_write: str | None = None

    def holds(self, fence: Fence) -> bool:
        """Say whether this fence may write, by what was stored before this step."""
        row = self.rows.executions.get(fence.execution_id)
        return (
            row is not None
            and row.execution.status is ExecutionStatus.RUNNING
            and row.lease is not None
            and (row.lease.owner, row.execution.fencing_token) == (fence.owner, fence.token)
            and row.lease.until > self.now
        )

    def stale_write(self, what: str) -> None:
        """Hear that someone writes in this step under a fence that doesn't hold."""
        self._stale_write = what

    def wrote_stale(self, what: str) -> None:
        raise Violation(f"A stale fence wrote: {what}.")

    def acknowledge(self, execution: Execution) -> None:
        """Hear that a client was told that its event is accepted."""
        key = (execution.request_id, execution.idempotency_key)
        told = self.acknowledged.setdefault(key, (execution.id, execution.payload_hash))
        require(told[0] == execution.id, "Two answers to one key named different executions.")
        require(execution.id in self.rows.executions, "An accepted event was lost.")

    def seconds_since_start(self, context: ActionContext, action: ActionKey) -> float:
        """Return how long ago the start of this attempt was stored; 0 if it never was."""
        started = self._started.get((context.execution_id, action, context.attempt), self.now)
        return (self.now - started).total_seconds()

    def called(self, context: ActionContext, action: ActionKey) -> None:
        """Hear that a call is about to leave."""
        attempt = (context.execution_id, action, context.attempt)
        require(attempt in self._started, f"{action} was called before the start of its attempt was stored.")
        require(attempt not in self._called, f"One attempt of {action} was called twice.")
        require(
            context.external_key == f"{context.execution_id}:{action}",
            f"The key of {action} isn't the stable one.",
        )
        self._called.add(attempt)

    def effect_happened(self, execution_id: ExecutionId, action: ActionKey) -> None:
        if EFFECTS[action] is Effect.READ_ONLY:
            return
        self.effects[execution_id, action] += 1
        require(self.effects[execution_id, action] == 1, f"The effect of {action} happened twice.")
        status = self.rows.executions[execution_id].execution.status
        # What comes after an operator has closed it is the operator's to compensate, as it was verified to be.
        over = status is ExecutionStatus.FAILED and execution_id not in self.resolutions.closed
        require(not over, f"The effect of {action} came after FAILED.")

    def look(self, rows: Rows, now: datetime) -> None:
        """Compare with what was seen last; raise Violation for a broken promise."""
        self.rows, self.now = rows, now
        changed_executions = self._changed_executions()
        changed_requests = self._changed_requests()
        self.resolutions.begin(
            filter(self._is_no_longer_stopped, (row.execution.id for row in changed_executions))
        )
        changed = self._look_at_checkpoints() or bool(changed_executions) or bool(changed_requests)
        stale, self._stale_write = self._stale_write, None
        require(not (stale and changed), f"A stale fence wrote: {stale}.")
        for row in changed_executions:
            self._look_at_execution(self._executions.get(row.execution.id), row)
        ended = [row for row in changed_executions if row.execution.status in _KIND_OF_END]
        for request in changed_requests:
            self._look_at_request(self._requests.get(request.request.id), request, ended)
        self.resolutions.end()
        if changed_executions:
            self._look_at_active()
            self._executions.update((row.execution.id, row) for row in changed_executions)
        self._requests.update((row.request.id, row) for row in changed_requests)

    def look_at_the_end(self) -> None:
        """Check what has to hold once everything has come to rest."""
        for request_id, row in self.rows.requests.items():
            entries = [self.rows.history[request_id, number] for number in range(1, row.audit_sequence + 1)]
            broken = verify_chain(entries, stored_head=row.audit_head)
            require(broken is None, f"The history of a request is broken: {broken}.")
        for (request_id, key), (execution_id, payload) in self.acknowledged.items():
            stored = self.rows.executions.get(execution_id)
            require(stored is not None, "An accepted event was lost.")
            assert stored is not None
            execution = stored.execution
            require(
                (execution.request_id, execution.idempotency_key, execution.payload_hash)
                == (request_id, key, payload),
                "An execution isn't the one that its client was told of.",
            )
        for row_at_end in self.rows.executions.values():
            status = row_at_end.execution.status
            waits_for_nobody = self.operated or status is not ExecutionStatus.RECONCILIATION_REQUIRED
            require(not (status.active and waits_for_nobody), "An execution came to no end.")

    def _is_no_longer_stopped(self, execution_id: ExecutionId) -> bool:
        """Say whether an execution that was stopped when it was seen last no longer is."""
        before = self._executions.get(execution_id)
        stopped = ExecutionStatus.RECONCILIATION_REQUIRED
        return (
            before is not None
            and before.execution.status is stopped
            and self.rows.executions[execution_id].execution.status is not stopped
        )

    def _changed_executions(self) -> list[ExecutionRow]:
        require(self._executions.keys() <= self.rows.executions.keys(), "An execution disappeared.")
        seen = self._executions
        return [
            row
            for key, row in self.rows.executions.items()
            if seen.get(key) is not row and seen.get(key) != row
        ]

    def _changed_requests(self) -> list[RequestRow]:
        seen = self._requests
        return [
            row
            for key, row in self.rows.requests.items()
            if seen.get(key) is not row and seen.get(key) != row
        ]

    def _look_at_execution(self, before: ExecutionRow | None, row: ExecutionRow) -> None:
        status = row.execution.status
        if before is None:
            require(status is ExecutionStatus.PENDING, "A new execution isn't PENDING.")
        elif before.execution.status is not status or before.lease != row.lease:
            self._look_at_move(before, row)
        require_something_wakes(row, self.now)

    def _look_at_move(self, before: ExecutionRow, row: ExecutionRow) -> None:
        old, new = before.execution, row.execution
        require(new.status in LEGAL_MOVES[old.status], f"{old.status} became {new.status}.")
        require(new.fencing_token >= old.fencing_token, "A fencing token shrank.")
        if new.status is ExecutionStatus.RUNNING:
            renewed = before.lease and row.lease and before.lease.owner == row.lease.owner
            claimed = new.attempts != old.attempts or not renewed
            if claimed:
                require(new.fencing_token > old.fencing_token, "A claim didn't raise the fencing token.")
            if before.lease is not None:
                over = before.lease.until <= self.now
                require(over or not claimed, "An execution was claimed while its lease ran.")
                require(claimed or not over, "A lease that had run out was revived.")
        elif new.status is ExecutionStatus.SUCCEEDED:
            self._look_at_success(new)
        elif old.status is ExecutionStatus.RECONCILIATION_REQUIRED:
            require(new.fencing_token == old.fencing_token, "A resolution changed the fencing token.")
            if new.status is ExecutionStatus.FAILED:
                self.resolutions.closed.add(new.id)
        elif new.status is ExecutionStatus.FAILED:
            happened = any(execution_id == new.id for execution_id, _ in self.effects)
            require(not happened, "An execution FAILED although something was written.")

    def _look_at_success(self, execution: Execution) -> None:
        stored = self.rows.checkpoints.get(execution.id, {})
        for action in self.scenario.actions[execution.transition]:
            row = stored.get(action)
            succeeded = row is not None and row.checkpoint.status is CheckpointStatus.SUCCEEDED
            require(succeeded, f"A transition was completed without the success of {action}.")
            happened = self.effects[execution.id, action]
            require(
                happened > 0 or EFFECTS[action] is Effect.READ_ONLY, f"{action} succeeded without an effect."
            )

    def _look_at_active(self) -> None:
        active = Counter(
            row.execution.request_id for row in self.rows.executions.values() if row.execution.status.active
        )
        require(all(count == 1 for count in active.values()), "A request has two active executions.")
        keys = {
            (row.execution.request_id, row.execution.idempotency_key) for row in self.rows.executions.values()
        }
        require(len(keys) == len(self.rows.executions), "One key started two executions.")

    def _look_at_request(self, before: RequestRow | None, row: RequestRow, ended: list[ExecutionRow]) -> None:
        old_sequence = 0 if before is None else before.audit_sequence
        request = row.request
        require(row.audit_sequence >= old_sequence, "A history became shorter.")
        entries = [
            self.rows.history[request.id, number]
            for number in range(old_sequence + 1, row.audit_sequence + 1)
        ]
        state = "OPEN" if before is None else before.request.state
        revision = 0 if before is None else int(before.request.revision)
        revision += self.moved_by_hand.pop(request.id, 0)
        for entry in entries:
            revision += entry.kind in _BUMPS or self.resolutions.closes(entry)
            if entry.kind is AuditKind.TRANSITION_COMPLETED:
                self._look_at_transition(before, entry, ended)
                state = entry.to_state or state
            self._look_at_entry(entry)
        require(
            (request.state, request.revision) == (state, revision), "History, state and revision disagree."
        )

    def _look_at_transition(
        self, before: RequestRow | None, entry: AuditEntry, ended: list[ExecutionRow]
    ) -> None:
        assert before is not None, "a request is created before it is moved"
        completed = [row.execution for row in ended if row.execution.id == entry.execution_id]
        require(
            len(completed) == 1 and completed[0].status is ExecutionStatus.SUCCEEDED,
            "A request moved without its execution becoming SUCCEEDED.",
        )
        accepted = (completed[0].from_state, completed[0].accepted_revision)
        require(
            (before.request.state, before.request.revision) == accepted,
            "A transition was completed on a request that had moved since its acceptance.",
        )

    def _look_at_entry(self, entry: AuditEntry) -> None:
        if entry.execution_id is None:
            return
        row = self.rows.executions.get(entry.execution_id)
        require(row is not None, "The history tells of an execution that isn't stored.")
        assert row is not None
        if entry.kind is AuditKind.RECONCILIATION_RESOLVED:
            # No resolution touches the token, so the row still has that of the stop.
            self.resolutions.look_at(entry, entry.execution_id, row.execution.fencing_token)
            return
        expected = _KIND_OF_END.get(row.execution.status, AuditKind.EVENT_ACCEPTED)
        asked = entry.kind is AuditKind.EFFECT_PROBED and row.execution.status is ExecutionStatus.RETRY_WAIT
        require(
            asked or entry.kind is expected,
            f"The history says {entry.kind} of an execution that is {row.execution.status}.",
        )

    def _look_at_checkpoints(self) -> bool:
        changed = False
        for execution_id, rows in self.rows.checkpoints.items():
            seen = self._checkpoints.get(execution_id, {})
            if seen is rows:
                continue
            for action, row in rows.items():
                before = seen.get(action)
                if before is not row and before != row:
                    changed = True
                    self._look_at_checkpoint(
                        execution_id, None if before is None else before.checkpoint, row.checkpoint
                    )
            self._checkpoints[execution_id] = rows
        return changed

    def _look_at_checkpoint(
        self, execution_id: ExecutionId, before: Checkpoint | None, after: Checkpoint
    ) -> None:
        running = after.status is CheckpointStatus.RUNNING
        if before is None:
            require_first_word(after)
        elif self.resolutions.ends_the_stop_of(execution_id):
            self._look_at_resolved(execution_id, before, after)
        elif before.status is CheckpointStatus.UNKNOWN and after.status is CheckpointStatus.SUCCEEDED:
            told = (execution_id, after.action) in self.confirmed
            require(told, f"{after.action} counts as done, and nobody has confirmed it.")
            require_confirmed_checkpoint(before, after)
        else:
            require_checkpoint_move(before, after)
            if is_taken_back(before, after):
                attempt = (execution_id, before.action, before.attempts)
                require(
                    attempt not in self._called, f"An attempt of {before.action} was called and taken back."
                )
        if running:
            self._started[execution_id, after.action, after.attempts] = self.now

    def _look_at_resolved(self, execution_id: ExecutionId, before: Checkpoint, after: Checkpoint) -> None:
        require_resolved_checkpoint(before, after)
        action = after.action
        if after.status is CheckpointStatus.SUCCEEDED:
            happened = self.effects[execution_id, action]
            require(happened > 0, f"{action} was confirmed without an effect.")
            return
        # Attempts count from one again.
        self._called = {key for key in self._called if key[:2] != (execution_id, action)}
        self._started = {key: at for key, at in self._started.items() if key[:2] != (execution_id, action)}
