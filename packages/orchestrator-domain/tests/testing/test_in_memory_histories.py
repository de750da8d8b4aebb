"""Whatever workers do in whatever order, the in-memory store keeps its laws."""

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

from attrs import define
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from orchestrator_domain.audit import verify_chain
from orchestrator_domain.errors import LeaseLost
from orchestrator_domain.execution.execution import LEGAL_MOVES, ExecutionStatus
from orchestrator_domain.identifiers import ExecutionId, FencingToken, LeaseOwner, RequestId
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.testing.contracts.fenced_writes import FENCED_WRITES, FencedWrite
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.stored_cases import LEASE_SECONDS, StoredCases


@define(kw_only=True)
class Held:
    """What a model of one lease knows: its newest token, and until when it runs, if it does."""

    token: FencingToken
    until: float


class Workers(RuleBasedStateMachine):
    """Requests are accepted, claimed, renewed, written and lost, while seconds pass."""

    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.harness = InMemoryHarness()
        self.cases = StoredCases(harness=self.harness)
        self.start = self.harness.clock.now()
        self.held: dict[ExecutionId, Held] = {}
        self.requests: set[RequestId] = set()
        self.statuses: dict[ExecutionId, ExecutionStatus] = {}

    @rule()
    def accept(self) -> None:
        execution = _run(self.cases.accepted())
        self.requests.add(execution.request_id)
        self.statuses[execution.id] = execution.status

    @rule(seconds=st.sampled_from([1, 30, 61, 3601]))
    def pass_time(self, seconds: int) -> None:
        self.harness.clock.advance(seconds)

    @rule(target=claims, owner=st.sampled_from(["worker-1", "worker-2"]), limit=st.integers(1, 3))
    def claim(self, owner: str, limit: int) -> Any:
        now = self._seconds()
        claimed = _run(
            self.harness.queue().claim(owner=LeaseOwner(owner), limit=limit, lease_seconds=LEASE_SECONDS)
        )
        assert len({one.execution.id for one in claimed}) == len(claimed) <= limit
        for one in claimed:
            before = self.held.get(one.execution.id)
            assert before is None or (before.until <= now and one.fence.token > before.token)
            self.held[one.execution.id] = Held(token=one.fence.token, until=now + LEASE_SECONDS)
        return multiple(*claimed)

    @rule(claimed=claims)
    def renew(self, claimed: ClaimedExecution) -> None:
        holds, now = self._holds(claimed), self._seconds()
        renewed = _run(self.harness.queue().renew(fences=[claimed.fence], lease_seconds=LEASE_SECONDS))
        assert (claimed.execution.id in renewed.held) == holds
        if holds:
            self.held[claimed.execution.id].until = now + LEASE_SECONDS

    @rule(claimed=claims, write=st.sampled_from(FENCED_WRITES))
    def write(self, claimed: ClaimedExecution, write: FencedWrite) -> None:
        holds = self._holds(claimed)
        try:
            _run(write(self.cases, claimed, claimed.fence, []))
        except LeaseLost:
            assert not holds
        else:
            assert holds
            if self._status(claimed.execution.id) is not ExecutionStatus.RUNNING:
                self.held[claimed.execution.id].until = 0

    @invariant()
    def every_chain_is_unbroken(self) -> None:
        for request in self.requests:
            assert verify_chain(_run(self.harness.history(request))) is None

    @invariant()
    def an_execution_blocks_its_request_until_it_ends(self) -> None:
        for execution_id, status in self.statuses.items():
            execution = self.harness.store.executions.rows[execution_id].execution
            active = _run(self.cases.seen(execution.request_id)).active_execution
            assert (active == execution_id) == execution.status.active
            assert execution.status == status or execution.status in LEGAL_MOVES[status]
            self.statuses[execution_id] = execution.status

    def _holds(self, claimed: ClaimedExecution) -> bool:
        held = self.held[claimed.execution.id]
        return held.token == claimed.fence.token and held.until > self._seconds()

    def _status(self, execution_id: ExecutionId) -> ExecutionStatus:
        return self.harness.store.executions.rows[execution_id].execution.status

    def _seconds(self) -> int:
        """Return whole seconds, so that the ticks of the clock between two readings don't count."""
        return (self.harness.clock.now() - self.start) // timedelta(seconds=1)


def _run[Result](story: Coroutine[Any, Any, Result]) -> Result:
    """Drive a coroutine that never has to wait."""
    try:
        story.send(None)
    except StopIteration as ended:
        result: Result = ended.value
        return result
    raise AssertionError("The in-memory store never waits.")


TestWorkers = Workers.TestCase
TestWorkers.settings = settings(max_examples=60, stateful_step_count=30)
