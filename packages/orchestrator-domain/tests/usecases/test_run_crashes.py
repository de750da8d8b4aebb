"""A run that dies before or after any of its awaits, and the worker that takes over.

A crash just after a write stands for the answer to a commit that was lost, too: the store has it, the run doesn't know.
"""

from itertools import product

import pytest
from attrs import define
from tests.plugins.embedded_service import LEASE_SECONDS, EmbeddedService, service_with
from tests.plugins.fated_runs import CrashPoint, Fate, FatedQueue, points

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.execution.attempt import ActionResult, NoWholeAnswer
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_result
from orchestrator_domain.testing.scripted_handlers import ScriptedHandler, SimulatedCrash, Step, Unheard

# Start, attempt, (end and start), attempt, (end and start), attempt, completion.
AWAITS = 7
# With a second action that needs a second attempt there are its end with the wait, and the start after it.
AWAITS_WITH_A_RETRY = 9

FINISHED = {"item": "ladder", "first": {"value": 1}, "second": {"value": 2}, "third": {"value": 3}}


@define
class FatedRuns:
    """Run one execution to its end, however often a worker dies on the way."""

    service: EmbeddedService
    execution: Execution
    fate: Fate
    owners: int = 0

    async def to_the_end(self) -> ExecutionStatus:
        for _ in range(50):
            status = (await self.service.execution(self.execution)).status
            if status in (ExecutionStatus.SUCCEEDED, ExecutionStatus.FAILED) or _stopped(status):
                return status
            await self._one_run(status)
        raise AssertionError("The execution comes to no end.")

    async def _one_run(self, status: ExecutionStatus) -> None:
        await self._make_claimable(status)
        self.owners += 1
        (claimed,) = await self.service.harness.queue().claim(
            owner=LeaseOwner(f"worker-{self.owners}"), limit=10, lease_seconds=LEASE_SECONDS
        )
        queue = FatedQueue(self.service, self.fate)
        try:
            await self.service.runner(queue=queue, attempt=self._attempt).run(claimed)
        except SimulatedCrash:
            return

    async def _make_claimable(self, status: ExecutionStatus) -> None:
        if status is ExecutionStatus.RUNNING:
            await self.service.harness.expire_lease(self.execution.id)
        if status is ExecutionStatus.RETRY_WAIT:
            await self.service.harness.make_due(self.execution.id)

    async def _attempt(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:
        stored = (await self.service.checkpoints(self.execution))[definition.id]
        assert (stored.status, stored.attempts) == (CheckpointStatus.RUNNING, context.attempt)
        self.fate.begin()
        result = await self.service.handler.execute(definition, context)
        self.fate.end()
        return result


def _stopped(status: ExecutionStatus) -> bool:
    return status is ExecutionStatus.RECONCILIATION_REQUIRED


EFFECTS = pytest.mark.parametrize("effect", Effect)


async def fated(effect: Effect, *crashes: CrashPoint, second: tuple[Step, ...] = ()) -> FatedRuns:
    """Return an accepted execution of three actions of this effect; `second` is how the second one begins."""
    handler = ScriptedHandler(deduplicates=effect is Effect.IDEMPOTENT_WRITE)
    service = service_with(effect, handler=handler)
    handler.script("second", *second)
    for action in CHAIN_ACTIONS:
        handler.script(action, *[chain_result(action)] * 10)
    return FatedRuns(service, await service.accepted(), Fate(crashes))


async def require_promises(runs: FatedRuns, effect: Effect) -> ExecutionStatus:
    """Run to the end and check what holds wherever the crashes were."""
    status = await runs.to_the_end()
    if effect is not Effect.READ_ONLY:
        assert all(count <= 1 for count in runs.service.handler.effects.values())
    keys = {context.external_key for context in runs.service.handler.attempts}
    assert keys <= {f"{runs.execution.id}:{action}" for action in CHAIN_ACTIONS}
    history = await runs.service.history(runs.execution)
    assert verify_chain(history) is None
    kinds = [entry.kind for entry in history]
    assert kinds.count(AuditKind.TRANSITION_COMPLETED) == (status is ExecutionStatus.SUCCEEDED)
    await _require_fitting_request(runs, status)
    return status


async def _require_fitting_request(runs: FatedRuns, status: ExecutionStatus) -> None:
    seen = await runs.service.read.request(runs.execution.request_id, runs.execution.actor)
    if status is ExecutionStatus.SUCCEEDED:
        assert (seen.request.state, seen.data, seen.active_execution) == ("DONE", FINISHED, None)
    else:
        assert (seen.request.state, seen.data) == ("OPEN", {"item": "ladder"})
        assert seen.active_execution == (runs.execution.id if _stopped(status) else None)


@EFFECTS
async def test_a_run_that_nothing_disturbs_has_the_awaits_that_are_crashed_below(effect: Effect) -> None:
    runs = await fated(effect)
    assert await require_promises(runs, effect) is ExecutionStatus.SUCCEEDED
    assert (runs.fate.awaits, len(runs.service.handler.attempts)) == (AWAITS, 3)


@pytest.mark.parametrize("crash", points(AWAITS), ids=str)
@pytest.mark.parametrize("effect", [Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE])
async def test_what_may_be_repeated_is_finished_after_any_crash(effect: Effect, crash: CrashPoint) -> None:
    runs = await fated(effect, crash)
    assert await require_promises(runs, effect) is ExecutionStatus.SUCCEEDED
    assert len(runs.service.handler.attempts) <= 4


@pytest.mark.parametrize("crash", points(AWAITS), ids=str)
async def test_an_unsafe_action_under_way_at_a_crash_is_left_to_an_operator(crash: CrashPoint) -> None:
    runs = await fated(Effect.NON_IDEMPOTENT_WRITE, crash)
    status = await require_promises(runs, Effect.NON_IDEMPOTENT_WRITE)
    assert _stopped(status) is _under_way(crash)
    if not _under_way(crash):
        assert (status, len(runs.service.handler.attempts)) == (ExecutionStatus.SUCCEEDED, 3)


def _under_way(crash: CrashPoint) -> bool:
    """Say whether an action's start was stored and its end not: from after each start to before what stores its end."""
    start_stored = crash.await_number > 1 or crash.after
    end_stored = crash.await_number == AWAITS and crash.after
    return start_stored and not end_stored


@pytest.mark.parametrize("crash", points(AWAITS), ids=str)
async def test_an_unsafe_action_that_was_stopped_is_unknown_and_the_others_as_they_were(
    crash: CrashPoint,
) -> None:
    runs = await fated(Effect.NON_IDEMPOTENT_WRITE, crash)
    status = await runs.to_the_end()
    checkpoints = await runs.service.checkpoints(runs.execution)
    statuses = [checkpoints[action].status for action in CHAIN_ACTIONS if action in checkpoints]
    last = CheckpointStatus.UNKNOWN if _stopped(status) else CheckpointStatus.SUCCEEDED
    assert statuses == [*[CheckpointStatus.SUCCEEDED] * (len(statuses) - 1), last]


@pytest.mark.no_cover  # the same lines as with one crash, in every order
@EFFECTS
async def test_any_two_crashes_break_no_promise(effect: Effect) -> None:
    for crashes in product(points(AWAITS), points(AWAITS + 2)):
        runs = await fated(effect, *crashes)
        status = await require_promises(runs, effect)
        assert status is not ExecutionStatus.FAILED
        assert effect is Effect.NON_IDEMPOTENT_WRITE or status is ExecutionStatus.SUCCEEDED


@EFFECTS
async def test_a_crash_around_a_retry_breaks_no_promise(effect: Effect) -> None:
    unheard = Unheard(answer=NoWholeAnswer())
    for crash in points(AWAITS_WITH_A_RETRY):
        runs = await fated(effect, crash, second=(unheard,))
        status = await require_promises(runs, effect)
        stops = effect is Effect.NON_IDEMPOTENT_WRITE
        assert status is (ExecutionStatus.RECONCILIATION_REQUIRED if stops else ExecutionStatus.SUCCEEDED)


@EFFECTS
async def test_a_worker_that_dies_at_every_attempt_ends_by_the_bound_of_attempts(effect: Effect) -> None:
    """A write that may have happened is left to an operator; a read fails and releases the request."""
    every_attempt = tuple(CrashPoint(number, after=True) for number in range(2, 100, 2))
    runs = await fated(effect, *every_attempt)
    status = await require_promises(runs, effect)
    assert status is (
        ExecutionStatus.FAILED if effect is Effect.READ_ONLY else ExecutionStatus.RECONCILIATION_REQUIRED
    )
    attempts = 1 if effect is Effect.NON_IDEMPOTENT_WRITE else 3
    assert len(runs.service.handler.attempts) == attempts


@EFFECTS
async def test_a_worker_that_dies_before_it_stores_anything_is_ended_as_poison(effect: Effect) -> None:
    runs = await fated(effect, *(CrashPoint(number, after=False) for number in range(1, 30)))
    runs.fate.crashes = tuple(crash for crash in runs.fate.crashes if crash.await_number <= 20)
    assert await require_promises(runs, effect) is ExecutionStatus.FAILED
    assert (await runs.service.execution(runs.execution)).error_code == "CLAIMS_EXHAUSTED"
    assert runs.service.handler.attempts == []
