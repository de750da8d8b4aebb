"""Carrying out one claimed execution, over the in-memory queue."""

from collections.abc import Sequence

import pytest
from attrs import evolve
from tests.plugins.embedded_service import LEASE_SECONDS, EmbeddedService, go, service_with

from orchestrator_domain.audit import AuditFact, AuditKind, verify_chain
from orchestrator_domain.errors import CheckpointMoved, LeaseLost, StorageUnavailable
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    UnclearRefusal,
)
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import Execution, ExecutionStatus, Fence
from orchestrator_domain.execution.poison import CLAIMS_WITHOUT_PROGRESS_MAX
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey, LeaseOwner, Sha256Hex
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document, chain_result
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.recording_observer import ExecutionEnded
from orchestrator_domain.usecases.run_execution import (
    UNREADABLE_RETRY_SECONDS,
    RunEnded,
)

FIRST, SECOND, THIRD = CHAIN_ACTIONS
READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE
STOPPED = ExecutionStatus.RECONCILIATION_REQUIRED


def script(service: EmbeddedService, **answers: ActionResult) -> None:
    """Let each action succeed, but those named answer otherwise."""
    for action in CHAIN_ACTIONS:
        service.handler.script(action, answers.get(action, chain_result(action)))


async def test_three_actions_lead_to_the_finished_transition() -> None:
    service = EmbeddedService()
    script(service)
    execution = await service.accepted()
    assert await service.run() == RunEnded(status=ExecutionStatus.SUCCEEDED)
    request = await service.seen(execution.request_id)
    assert (request.state, request.revision) == ("DONE", 2)
    assert request.data == {
        "item": "ladder",
        "first": {"value": 1},
        "second": {"value": 2},
        "third": {"value": 3},
    }
    seen = await service.execution(execution)
    assert seen.status is ExecutionStatus.SUCCEEDED
    assert seen.result == {"outcome": "go", "fromState": "OPEN", "toState": "DONE"}


async def test_the_history_of_a_run_is_whole_and_says_what_was_done_without_values() -> None:
    service = EmbeddedService()
    script(service)
    execution = await service.accepted()
    await service.run()
    history = await service.history(execution)
    assert [entry.kind for entry in history] == [
        AuditKind.REQUEST_CREATED,
        AuditKind.EVENT_ACCEPTED,
        AuditKind.TRANSITION_COMPLETED,
    ]
    assert (history[-1].actor, history[-1].from_state, history[-1].to_state) == ("system", "OPEN", "DONE")
    assert history[-1].detail is not None
    assert history[-1].detail["actionIds"] == list(CHAIN_ACTIONS)
    assert "ladder" not in repr([entry.detail for entry in history])
    assert verify_chain(history) is None


async def test_an_attempt_knows_its_inputs_its_keys_and_whom_it_serves() -> None:
    service = EmbeddedService()
    script(service)
    execution = await service.accepted()
    claimed = await service.claimed()
    await service.runner().run(claimed)
    request = claimed.request
    second = service.handler.attempts[1]
    assert second == ActionContext(
        execution_id=execution.id,
        request_id=request.id,
        owner=request.owner,
        scope=request.scope,
        actor=execution.actor.subject,
        inputs={"item": "ladder", "previous": 1},
        external_key=f"{execution.id}:second",
        fencing_token=claimed.fence.token,
        attempt=1,
        contract=service.catalogue.contracts[SECOND],
        correlation_id=execution.correlation_id,
    )


async def test_the_observer_is_told_how_a_run_ended() -> None:
    service = EmbeddedService()
    script(service, second=Refused())
    execution = await service.accepted()
    await service.run()
    assert service.observer.observations[-1] == ExecutionEnded(
        execution_id=execution.id, status="FAILED", error_code="PROVIDER_REJECTED"
    )


# The end of the table: what an outcome means for the execution, alone and after another action has written.

OUTCOMES: dict[str, ActionResult] = {
    "unsent": ProvenUnsent(),
    "no whole answer": NoWholeAnswer(),
    "transient": Transient(),
    "transient without effect": Transient(proves_no_effect=True),
    "refused": Refused(),
    "unclear": UnclearRefusal(),
    "broken contract": ContractViolated(),
    "broken output": Succeeded(result={"value": "one"}),
}
WAITING, FAILED = ExecutionStatus.RETRY_WAIT, ExecutionStatus.FAILED
RETRIED = ("unsent", "no whole answer", "transient", "transient without effect")
UNCERTAIN = ("no whole answer", "transient", "unclear", "broken contract", "broken output")


def expected_end(outcome: str, effect: Effect, *, last: bool, earlier_wrote: bool) -> ExecutionStatus:
    """Say by the protocol how a run ends whose action comes to this outcome at its first or last attempt."""
    may_have_happened = effect is not READ and outcome in UNCERTAIN
    if outcome in RETRIED and not last and not (effect is UNSAFE and may_have_happened):
        return WAITING
    return STOPPED if may_have_happened or earlier_wrote else FAILED


@pytest.mark.parametrize("earlier", [READ, IDEMPOTENT, UNSAFE])
@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("attempts_max", [1, 2])
async def test_an_outcome_ends_its_run_by_the_table(
    outcome: str, effect: Effect, earlier: Effect, attempts_max: int
) -> None:
    service = service_with(earlier, effect, READ)
    limit_attempts(service, attempts_max)
    script(service, second=OUTCOMES[outcome])
    execution = await service.accepted()
    ended = await service.run()
    expected = expected_end(outcome, effect, last=attempts_max == 1, earlier_wrote=earlier is not READ)
    assert ended.status is expected
    await _require_consistent_end(service, execution, ended)


async def _require_consistent_end(service: EmbeddedService, execution: Execution, ended: RunEnded) -> None:
    seen, shown = (
        await service.execution(execution),
        await service.read.request(execution.request_id, execution.actor),
    )
    assert (seen.status, seen.error_code) == (ended.status, ended.error_code)
    assert (shown.request.state, shown.data) == ("OPEN", {"item": "ladder"})
    released = ended.status is FAILED
    assert shown.request.revision == (2 if released else 1)
    assert shown.active_execution == (None if released else execution.id)
    last = (await service.history(execution))[-1]
    assert (
        last.kind
        is {
            WAITING: AuditKind.ACTION_RETRY_SCHEDULED,
            FAILED: AuditKind.EXECUTION_FAILED,
            STOPPED: AuditKind.RECONCILIATION_REQUIRED,
        }[ended.status]
    )
    assert last.detail is not None
    assert (last.detail["action"], last.detail["errorCode"]) == ("second", ended.error_code)
    first = (await service.checkpoints(execution))[FIRST]
    assert (first.status, first.result) == (CheckpointStatus.SUCCEEDED, {"value": 1})


@pytest.mark.parametrize(
    ("last", "status"), [(Refused(), STOPPED), (ProvenUnsent(), STOPPED), (UnclearRefusal(), STOPPED)]
)
async def test_a_refusal_after_an_uncertain_attempt_of_a_write_is_for_reconciliation(
    last: ActionResult, status: ExecutionStatus
) -> None:
    service = service_with(IDEMPOTENT)
    limit_attempts(service, 2)
    service.handler.script(FIRST, NoWholeAnswer(), last)
    execution = await service.accepted()
    assert (await service.run()).status is WAITING
    await service.harness.make_due(execution.id)
    assert (await service.run()).status is status
    assert {context.external_key for context in service.handler.attempts} == {f"{execution.id}:first"}


async def test_a_retry_waits_in_the_queue_and_goes_on_with_what_was_reached() -> None:
    service = EmbeddedService()
    service.handler.script(FIRST, chain_result(FIRST))
    service.handler.script(SECOND, Transient(retry_after_seconds=120), chain_result(SECOND))
    service.handler.script(THIRD, chain_result(THIRD))
    execution = await service.accepted()
    assert (await service.run()).status is WAITING
    service.harness.clock.advance(119)
    assert not await _due(service)
    service.harness.clock.advance(2)
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED
    assert [context.external_key.rpartition(":")[2] for context in service.handler.attempts] == [
        "first",
        "second",
        "second",
        "third",
    ]
    retry = (await service.history(execution))[2]
    assert retry.detail == {"action": "second", "attempt": 1, "errorCode": "PROVIDER_UNAVAILABLE"}


async def test_a_parked_execution_comes_back_for_an_hour_with_all_its_attempts() -> None:
    service = EmbeddedService()
    parked = [Parked(retry_after_seconds=600)] * 5
    service.handler.script(FIRST, *parked, *[Transient()] * 2, chain_result(FIRST))
    service.handler.script(SECOND, chain_result(SECOND))
    service.handler.script(THIRD, chain_result(THIRD))
    execution = await service.accepted()
    for _ in parked:
        assert await service.run() == RunEnded(status=WAITING, error_code="CIRCUIT_OPEN")
        service.harness.clock.advance(599)
        assert not await _due(service)
        service.harness.clock.advance(151)
    for _ in range(2):
        assert (await service.run()).error_code == "PROVIDER_UNAVAILABLE"
        service.harness.clock.advance(60)
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED
    assert [context.attempt for context in service.handler.attempts] == [1] * 6 + [2, 3, 1, 1]
    assert (await service.history(execution))[2].detail == {
        "action": "first",
        "attempt": 0,
        "errorCode": "CIRCUIT_OPEN",
    }


@pytest.mark.parametrize("effect", list(Effect))
async def test_a_circuit_that_stays_open_ends_in_failed_an_hour_and_the_contracts_attempts_later(
    effect: Effect,
) -> None:
    service = service_with(effect)
    service.handler.script(FIRST, *[Parked(retry_after_seconds=1800)] * 5)
    await service.accepted()
    for _ in range(4):
        assert (await service.run()).status is WAITING
        service.harness.clock.advance(2400)
    assert await service.run() == RunEnded(status=FAILED, error_code="CIRCUIT_OPEN")


async def test_a_contract_violation_leaves_its_places_in_the_history() -> None:
    service = EmbeddedService()
    script(service, first=Succeeded(result={"value": "marker-7c1"}))
    execution = await service.accepted()
    await service.run()
    detail = (await service.history(execution))[-1].detail
    assert detail == {"errorCode": "CONTRACT_VIOLATION", "action": "first", "pointers": ["/value"]}


async def test_an_action_whose_contract_is_gone_fails_and_names_itself() -> None:
    service = EmbeddedService()
    await service.accepted()
    service.catalogue = service.catalogue.without(FIRST)
    ended = await service.run()
    assert ended == RunEnded(status=FAILED, error_code="INTEGRATION_UNAVAILABLE")
    assert service.handler.attempts == []


async def test_a_foreign_checkpoint_is_for_reconciliation_even_if_nothing_wrote() -> None:
    service = EmbeddedService()
    service.handler.script(FIRST, NoWholeAnswer())
    execution = await service.accepted()
    await service.run()
    service.catalogue = service_with(IDEMPOTENT).catalogue
    repinned = {FIRST: evolve(service.catalogue.contracts[FIRST], checksum=_pinned_checksum())}
    service.catalogue = evolve(service.catalogue, contracts=repinned)
    await service.harness.make_due(execution.id)
    assert await service.run() == RunEnded(status=STOPPED, error_code="CHECKPOINT_MISMATCH")


def _pinned_checksum() -> Sha256Hex:
    return EmbeddedService().catalogue.contracts[FIRST].checksum


# Commits: what shares one, and what is left when one fails.


class RecordingQueue(InMemoryExecutionQueue):
    """Keep the names of the writes and the statuses that each carried; fail those that a test names."""

    def __init__(self, service: EmbeddedService, *, failing: dict[str, Exception] | None = None) -> None:
        super().__init__(service.harness.store)
        self.writes: list[tuple[str, list[str]]] = []
        self._failing = failing or {}

    def _record(self, name: str, writes: Sequence[CheckpointWrite]) -> None:
        self.writes.append((name, [f"{one.after.action} {one.after.status}" for one in writes]))
        if name in self._failing:
            raise self._failing[name]

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        self._record("checkpoint", writes)
        await super().checkpoint(fence, writes)

    async def fail(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        self._record("fail", writes)
        await super().fail(fence, writes, error_code=error_code, fact=fact)

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        self._record("require_reconciliation", writes)
        await super().require_reconciliation(fence, writes, error_code=error_code, fact=fact)

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        self._record("complete", writes)
        await super().complete(fence, completion, writes=writes, succeeded=succeeded, fact=fact)


async def test_a_success_shares_its_commit_with_the_next_start_and_the_last_one_with_the_completion() -> None:
    service = EmbeddedService()
    script(service)
    await service.accepted()
    queue = RecordingQueue(service)
    await service.runner(queue=queue).run(await service.claimed())
    assert queue.writes == [
        ("checkpoint", ["first RUNNING"]),
        ("checkpoint", ["first SUCCEEDED", "second RUNNING"]),
        ("checkpoint", ["second SUCCEEDED", "third RUNNING"]),
        ("complete", ["third SUCCEEDED"]),
    ]


async def test_every_start_is_stored_before_its_attempt_is_made() -> None:
    service = EmbeddedService()
    script(service)
    execution = await service.accepted()
    stored: list[tuple[str, CheckpointStatus]] = []

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        now = (await service.checkpoints(execution))[definition.id]
        stored.append((definition.id, now.status))
        return await service.handler.execute(definition, context)

    await service.runner(attempt=attempt).run(await service.claimed())
    assert stored == [(action, CheckpointStatus.RUNNING) for action in CHAIN_ACTIONS]


@pytest.mark.parametrize("error", [StorageUnavailable("The store is down."), RuntimeError("Anything.")])
async def test_a_completion_that_fails_keeps_the_last_success_and_repeats_nothing(error: Exception) -> None:
    service = service_with(UNSAFE)
    script(service)
    execution = await service.accepted()
    queue = RecordingQueue(service, failing={"complete": error})
    with pytest.raises(type(error)):
        await service.runner(queue=queue).run(await service.claimed())
    assert queue.writes[-1] == ("checkpoint", ["third SUCCEEDED"])
    assert (await service.seen(execution.request_id)).state == "OPEN"
    await service.harness.expire_lease(execution.id)
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED
    assert len(service.handler.attempts) == 3


async def test_without_a_new_success_a_completion_that_fails_writes_nothing_more() -> None:
    service = EmbeddedService()
    await service.activated(chain_document(()))
    request = await service.created()
    await service.accept(go(request.id), CLERK)
    queue = RecordingQueue(service, failing={"complete": StorageUnavailable("The store is down.")})
    with pytest.raises(StorageUnavailable):
        await service.runner(queue=queue).run(await service.claimed())
    assert queue.writes == [("complete", [])]


@pytest.mark.parametrize(
    ("effect", "ending", "error_code"),
    [(READ, "fail", "DATA_TOO_LARGE"), (UNSAFE, "require_reconciliation", "DATA_TOO_LARGE")],
)
async def test_an_end_that_can_not_be_stored_keeps_the_success_before_it(
    effect: Effect, ending: str, error_code: str
) -> None:
    service = service_with(effect)
    script(service)
    execution = await service.accepted()
    service.limits = evolve(service.limits, data_bytes_max=20)
    queue = RecordingQueue(service, failing={ending: StorageUnavailable("The store is down.")})
    with pytest.raises(StorageUnavailable):
        await service.runner(queue=queue).run(await service.claimed())
    assert queue.writes[-2:] == [(ending, ["third SUCCEEDED"]), ("checkpoint", ["third SUCCEEDED"])]
    await service.harness.expire_lease(execution.id)
    assert (await service.run()).error_code == error_code
    assert len(service.handler.attempts) == 3


@pytest.mark.parametrize("error", [LeaseLost("Lost."), CheckpointMoved("Moved.")])
@pytest.mark.parametrize("failing", ["checkpoint", "complete"])
async def test_a_lost_lease_stops_the_run_and_writes_nothing_more(failing: str, error: Exception) -> None:
    service = EmbeddedService()
    script(service)
    await service.accepted()
    queue = RecordingQueue(service, failing={failing: error})
    with pytest.raises(type(error)):
        await service.runner(queue=queue).run(await service.claimed())
    assert [name for name, _ in queue.writes].count(failing) == 1
    assert queue.writes[-1][0] == failing
    assert not [one for one in service.observer.observations if isinstance(one, ExecutionEnded)]


@pytest.mark.parametrize("taken", CHAIN_ACTIONS)
async def test_a_run_whose_lease_ran_out_during_an_attempt_changes_nothing(taken: ActionKey) -> None:
    service = EmbeddedService()
    script(service)
    execution = await service.accepted()

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        if definition.id == taken:
            await service.harness.expire_lease(execution.id)
        return await service.handler.execute(definition, context)

    with pytest.raises(LeaseLost):
        await service.runner(attempt=attempt).run(await service.claimed())
    checkpoints = await service.checkpoints(execution)
    assert checkpoints[taken].status is CheckpointStatus.RUNNING
    assert (await service.execution(execution)).status is ExecutionStatus.RUNNING


# Claims that can't be used.


async def test_an_execution_that_is_claimed_too_often_without_progress_is_ended() -> None:
    service = EmbeddedService()
    execution = await service.accepted()
    for _ in range(CLAIMS_WITHOUT_PROGRESS_MAX):
        await service.claimed()
        await service.harness.expire_lease(execution.id)
    ended = await service.run()
    assert ended == RunEnded(status=FAILED, error_code="CLAIMS_EXHAUSTED")
    assert service.handler.attempts == []


async def test_the_last_claim_before_the_limit_still_runs() -> None:
    service = EmbeddedService()
    script(service)
    execution = await service.accepted()
    for _ in range(CLAIMS_WITHOUT_PROGRESS_MAX - 1):
        await service.claimed()
        await service.harness.expire_lease(execution.id)
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED


async def test_poison_that_may_have_written_is_for_reconciliation() -> None:
    service = service_with(UNSAFE)
    execution = await service.accepted()
    queue = RecordingQueue(service)
    with pytest.raises(RuntimeError):
        await service.runner(queue=queue, attempt=_broken_attempt).run(await service.claimed())
    for _ in range(CLAIMS_WITHOUT_PROGRESS_MAX):
        await service.harness.expire_lease(execution.id)
        await service.claimed()
    await service.harness.expire_lease(execution.id)
    assert await service.run() == RunEnded(status=STOPPED, error_code="CLAIMS_EXHAUSTED")


async def _broken_attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
    raise RuntimeError("A worker promises that this never happens.")


async def test_a_definition_that_can_not_be_read_parks_its_execution_alone() -> None:
    service = EmbeddedService()
    execution = await service.accepted()
    flows = service.harness.store.flows.rows
    flow_id = next(iter(flows))
    flows[flow_id] = evolve(flows[flow_id], document={"schemaVersion": 99})
    service.flows = type(service.flows)()
    assert await service.run() == RunEnded(status=WAITING, error_code="FLOW_UNREADABLE")
    service.harness.clock.advance(UNREADABLE_RETRY_SECONDS - 1)
    assert not await _due(service)
    service.harness.clock.advance(2)
    assert (await service.run()).status is WAITING
    assert (await service.history(execution))[-1].detail == {"errorCode": "FLOW_UNREADABLE"}


async def test_a_definition_that_stays_unreadable_ends_its_execution_at_the_poison_limit() -> None:
    service = EmbeddedService()
    execution = await service.accepted()
    service.harness.store.flows.rows.clear()
    service.flows = type(service.flows)()
    for _ in range(CLAIMS_WITHOUT_PROGRESS_MAX):
        assert await service.run() == RunEnded(status=WAITING, error_code="FLOW_UNREADABLE")
        await service.harness.make_due(execution.id)
    assert await service.run() == RunEnded(status=FAILED, error_code="CLAIMS_EXHAUSTED")


async def test_a_request_that_moved_is_never_worked_on_and_its_execution_ends() -> None:
    service = EmbeddedService()
    execution = await service.accepted()
    await service.harness.move_request(execution.request_id)
    assert await service.run() == RunEnded(status=FAILED, error_code="REQUEST_MOVED")
    assert service.handler.attempts == []


@pytest.mark.parametrize("moved_during", CHAIN_ACTIONS)
@pytest.mark.parametrize(("effect", "status"), [(READ, FAILED), (IDEMPOTENT, STOPPED), (UNSAFE, STOPPED)])
async def test_a_request_that_moves_during_a_run_ends_it_with_its_success_kept(
    effect: Effect, status: ExecutionStatus, moved_during: str
) -> None:
    service = service_with(effect)
    script(service)
    execution = await service.accepted()

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        if definition.id == moved_during:
            await service.harness.move_request(execution.request_id)
        return await service.handler.execute(definition, context)

    ended = await service.runner(attempt=attempt).run(await service.claimed())
    assert ended == RunEnded(status=status, error_code="REQUEST_MOVED")
    checkpoints = await service.checkpoints(execution)
    assert {checkpoint.status for checkpoint in checkpoints.values()} == {CheckpointStatus.SUCCEEDED}
    request = await service.seen(execution.request_id)
    assert (request.state, request.data) == ("OPEN", {"item": "ladder"})


async def test_an_end_that_fails_on_a_moved_request_says_what_failed_rather_than_that_it_moved() -> None:
    service = service_with(UNSAFE)
    script(service)
    execution = await service.accepted()
    queue = RecordingQueue(
        service, failing={"require_reconciliation": StorageUnavailable("The store is down.")}
    )

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        await service.harness.move_request(execution.request_id)
        return await service.handler.execute(definition, context)

    with pytest.raises(StorageUnavailable):
        await service.runner(queue=queue, attempt=attempt).run(await service.claimed())
    await service.harness.expire_lease(execution.id)
    assert await service.run() == RunEnded(status=STOPPED, error_code="REQUEST_MOVED")
    assert len(service.handler.attempts) == 1


def limit_attempts(service: EmbeddedService, attempts_max: int) -> None:
    contracts = {
        action: evolve(contract, retry=evolve(contract.retry, attempts_max=attempts_max))
        for action, contract in service.catalogue.contracts.items()
    }
    service.catalogue = evolve(service.catalogue, contracts=contracts)


async def _due(service: EmbeddedService) -> Sequence[ClaimedExecution]:
    return await service.harness.queue().claim(
        owner=LeaseOwner("worker-9"), limit=10, lease_seconds=LEASE_SECONDS
    )
