"""How one claimed execution ends, over the in-memory queue."""

import pytest
from attrs import evolve
from tests.plugins.embedded_service import EmbeddedService, service_with

from orchestrator_domain.audit import AuditKind, verify_chain
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
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import Sha256Hex
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_result
from orchestrator_domain.testing.recording_observer import ExecutionEnded
from orchestrator_domain.usecases.run_progress import RunEnded

FIRST, SECOND, THIRD = CHAIN_ACTIONS
READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE
STOPPED = ExecutionStatus.RECONCILIATION_REQUIRED


async def test_three_actions_lead_to_the_finished_transition() -> None:
    service = EmbeddedService()
    service.script()
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
    service.script()
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
    service.script()
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
    service.script(second=Refused())
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
    service.script(second=OUTCOMES[outcome])
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
    assert not await service.due()
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
        assert not await service.due()
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
    service.script(first=Succeeded(result={"value": "marker-7c1"}))
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


def limit_attempts(service: EmbeddedService, attempts_max: int) -> None:
    contracts = {
        action: evolve(contract, retry=evolve(contract.retry, attempts_max=attempts_max))
        for action, contract in service.catalogue.contracts.items()
    }
    service.catalogue = evolve(service.catalogue, contracts=contracts)
