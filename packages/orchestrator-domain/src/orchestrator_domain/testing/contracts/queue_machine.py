"""Any history of acceptances, claims, renewals, writes and losses, held against a model step by step."""

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

from orchestrator_domain.audit import verify_chain
from orchestrator_domain.errors import CheckpointMoved, LeaseLost
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import ExecutionId, LeaseOwner
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution, Renewed
from orchestrator_domain.testing.contracts import fenced_writes
from orchestrator_domain.testing.contracts.fenced_writes import FencedWrite
from orchestrator_domain.testing.contracts.harness import StoreHarness
from orchestrator_domain.testing.contracts.queue_model import ModelExecution, QueueModel, StoredCheckpoint
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, StoredCases
from orchestrator_domain.testing.examples import LOOKUP, checkpoint_of, write_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

_ENDINGS: dict[str, tuple[FencedWrite, ExecutionStatus | None]] = {
    "checkpoint": (fenced_writes.checkpoint, None),
    "retry later": (fenced_writes.retry_later, ExecutionStatus.RETRY_WAIT),
    "fail": (fenced_writes.fail, ExecutionStatus.FAILED),
    "require reconciliation": (fenced_writes.require_reconciliation, ExecutionStatus.RECONCILIATION_REQUIRED),
    "complete": (fenced_writes.complete, ExecutionStatus.SUCCEEDED),
}
_OWNERS = (LeaseOwner("worker-1"), LeaseOwner("worker-2"), LeaseOwner("worker-3"))
_STALE: StoredCheckpoint = (CheckpointStatus.RUNNING, 99)


class Room(Protocol):
    """An empty store for each history, and a way to await it from rules, which are plain functions."""

    def emptied(self) -> StoreHarness: ...

    def run[Result](self, story: Coroutine[Any, Any, Result]) -> Result: ...


class QueueMachineContract:
    """Inherit it, and give a fixture `room`."""

    histories = settings(max_examples=60, stateful_step_count=30, deadline=None)

    def test_whatever_workers_do_in_whatever_order_the_queue_agrees_with_its_model(self, room: Room) -> None:
        class MachineOfThisRoom(QueueMachine):
            def __init__(self) -> None:
                super().__init__(room)

        run_state_machine_as_test(MachineOfThisRoom, settings=self.histories)


class QueueMachine(RuleBasedStateMachine):
    """One history, in an empty store."""

    claims = Bundle("claims")
    _seeds = iter(range(1, 1 << 40))

    def __init__(self, room: Room) -> None:
        super().__init__()
        self.room, self.harness = room, room.emptied()
        self.cases = StoredCases(
            harness=self.harness, identifiers=SequentialIdentifiers(seed=next(self._seeds))
        )
        self.model = QueueModel()

    @initialize()
    def begin(self) -> None:
        self.accept()

    @rule()
    def accept(self) -> None:
        execution = self.room.run(self.cases.accepted())
        self.model.executions[str(execution.id)] = ModelExecution(
            revision=int(execution.accepted_revision), history=2
        )
        self._compare(execution.id)

    @rule(target=claims, owner=st.sampled_from(_OWNERS), limit=st.integers(1, 3))
    def claim(self, owner: LeaseOwner, limit: int) -> Any:
        due = self.model.claimable()
        claimed = self.room.run(
            self.harness.queue().claim(owner=owner, limit=limit, lease_seconds=LEASE_SECONDS)
        )
        assert {str(one.execution.id) for one in claimed} <= due
        assert len(claimed) == min(limit, len(due))
        for one in claimed:
            expected = self.model.of(one)
            expected.claim(owner)
            assert (one.fence.owner, one.fence.token) == (owner, expected.token)
            assert one.execution.attempts == expected.attempts
            assert one.claims_without_progress == expected.claims_without_progress
            assert _seen(one.checkpoints) == expected.checkpoint
            self._compare(one.execution.id)
        return multiple(*claimed)

    @rule(held=st.lists(claims, min_size=1, max_size=3, unique_by=lambda one: one.execution.id))
    def renew(self, held: list[ClaimedExecution]) -> None:
        renewed = self.room.run(
            self.harness.queue().renew(fences=[one.fence for one in held], lease_seconds=LEASE_SECONDS)
        )
        assert renewed == Renewed(
            held=frozenset(one.execution.id for one in held if self.model.of(one).is_held_under(one)),
            given_back=frozenset(
                one.execution.id for one in held if self.model.of(one).was_given_back_under(one)
            ),
        )

    @rule(
        claimed=claims,
        ending=st.sampled_from(tuple(_ENDINGS)),
        brings=st.sampled_from(("nothing", "a start", "a success", "a stale start")),
    )
    def write(self, claimed: ClaimedExecution, ending: str, brings: str) -> None:
        expected, (write, status) = self.model.of(claimed), _ENDINGS[ending]
        before = _STALE if brings == "a stale start" else expected.checkpoint
        after = _after(expected.checkpoint, brings)
        writes = [] if after is None else [self._write(claimed, after, before)]
        refusal = self._refused(write(self.cases, claimed, claimed.fence, writes))
        assert refusal is self._refusal(expected, claimed, brings)
        if refusal is None:
            expected.write(after, status)
        self._compare(claimed.execution.id)

    @rule(claimed=claims)
    def complete_without_the_success_it_rests_on(self, claimed: ClaimedExecution) -> None:
        expected = self.model.of(claimed)
        if not expected.is_held_under(claimed) or _is_success(expected.checkpoint):
            return
        resting = fenced_writes.complete_resting_on(self.cases, claimed, _success(claimed))
        assert self._refused(resting) is CheckpointMoved
        self._compare(claimed.execution.id)

    @rule(claimed=claims)
    def expire_lease(self, claimed: ClaimedExecution) -> None:
        if self.model.of(claimed).status is ExecutionStatus.RUNNING:
            self.room.run(self.harness.expire_lease(claimed.execution.id))
            self.model.of(claimed).lease_runs = False

    @rule(claimed=claims)
    def make_due(self, claimed: ClaimedExecution) -> None:
        if self.model.of(claimed).status is ExecutionStatus.RETRY_WAIT:
            self.room.run(self.harness.make_due(claimed.execution.id))
            self.model.of(claimed).due = True

    def teardown(self) -> None:
        """Compare everything once more: nothing may have changed that nobody wrote."""
        for name in self.model.executions:
            self._compare(ExecutionId(UUID(name)))

    def _refused(self, write: Coroutine[Any, Any, None]) -> type[Exception] | None:
        try:
            self.room.run(write)
        except (LeaseLost, CheckpointMoved) as refusal:
            return type(refusal)
        return None

    def _refusal(
        self, expected: ModelExecution, claimed: ClaimedExecution, brings: str
    ) -> type[Exception] | None:
        if not expected.is_held_under(claimed):
            return LeaseLost
        return CheckpointMoved if brings == "a stale start" else None

    def _write(
        self, claimed: ClaimedExecution, after: StoredCheckpoint, before: StoredCheckpoint | None
    ) -> CheckpointWrite:
        status, attempts = after
        result: JsonObject | None = {"found": True} if status is CheckpointStatus.SUCCEEDED else None
        checkpoint = checkpoint_of(claimed.execution.id, status=status, attempts=attempts, result=result)
        return write_of(checkpoint, self.cases.identifiers, before=before)

    def _compare(self, execution_id: ExecutionId) -> None:
        self.room.run(self._agrees(execution_id))

    async def _agrees(self, execution_id: ExecutionId) -> None:
        expected = self.model.executions[str(execution_id)]
        execution = await self.cases.seen_execution(execution_id)
        assert (execution.status, execution.attempts) == (expected.status, expected.attempts)
        assert execution.fencing_token == expected.token
        assert _seen(await self.harness.checkpoints(execution_id)) == expected.checkpoint
        seen = await self.cases.seen(execution.request_id)
        assert seen.request.revision == expected.revision
        assert seen.active_execution == (execution_id if expected.status.active else None)
        history = await self.harness.history(execution.request_id)
        assert len(history) == expected.history
        assert verify_chain(history) is None


def _after(stored: StoredCheckpoint | None, brings: str) -> StoredCheckpoint | None:
    attempts = 0 if stored is None else stored[1]
    match brings:
        case "nothing":
            return None
        case "a success":
            return (CheckpointStatus.SUCCEEDED, max(attempts, 1))
        case _:
            return (CheckpointStatus.RUNNING, attempts + 1)


def _is_success(stored: StoredCheckpoint | None) -> bool:
    return stored is not None and stored[0] is CheckpointStatus.SUCCEEDED


def _success(claimed: ClaimedExecution) -> Checkpoint:
    return checkpoint_of(claimed.execution.id, status=CheckpointStatus.SUCCEEDED, result={"found": True})


def _seen(checkpoints: Sequence[Checkpoint]) -> StoredCheckpoint | None:
    return next(((one.status, one.attempts) for one in checkpoints if one.action == LOOKUP), None)
