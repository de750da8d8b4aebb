"""A run asks about an effect in doubt: it goes on by itself if the provider knows of it, and else calls for a human."""

import pytest
from attrs import evolve
from tests.plugins.embedded_service import LEASE_SECONDS, EmbeddedService, probed_service
from tests.plugins.fated_runs import CrashPoint, Fate, FatedQueue, points

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.execution.attempt import ActionResult, NoWholeAnswer, Parked
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.probe import Confirmed, Inconclusive, NotFound, ProbeResult
from orchestrator_domain.flow.contract import Effect, ProbeContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import LeaseOwner, Role
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_result
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.scripted_handlers import (
    ScriptedHandler,
    ScriptedProbe,
    SimulatedCrash,
    Step,
    Unheard,
)
from orchestrator_domain.usecases.run_progress import RunEnded
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions

SECOND = CHAIN_ACTIONS[1]
EFFECTS = (Effect.READ_ONLY, Effect.NON_IDEMPOTENT_WRITE, Effect.READ_ONLY)
SHORT = ProbeContract(ask_for_seconds=30.0, backoff_seconds=5.0)
CONFIRMED = Confirmed(result={"value": 2}, provider_reference="ref-second")
OPERATOR = evolve(CLERK, roles=frozenset({Role("EXECUTION_OPERATOR")}))
LOST = Unheard(answer=NoWholeAnswer())


def uncertain_service(*second: Step, probe: ProbeContract = SHORT) -> EmbeddedService:
    """Return a service whose second action pays, and loses the answer to it unless told otherwise."""
    handler = ScriptedHandler()
    for action in CHAIN_ACTIONS:
        steps = (second or (LOST,)) if action == SECOND else ()
        handler.script(action, *steps, *[chain_result(action)] * 3)
    return probed_service(*EFFECTS, probe=probe, handler=handler)


async def run(service: EmbeddedService, probe: ScriptedProbe) -> RunEnded:
    return await service.runner(probe=probe.probe).run(await service.claimed())


async def kinds(service: EmbeddedService, execution: Execution) -> list[AuditKind]:
    return [entry.kind for entry in await service.history(execution)]


async def test_a_payment_that_the_provider_confirms_goes_on_by_itself_and_is_made_once() -> None:
    service, probe = uncertain_service(), ScriptedProbe(CONFIRMED)
    execution = await service.accepted()
    confirmed = await run(service, probe)
    assert (confirmed.status, confirmed.error_code) == (ExecutionStatus.RETRY_WAIT, "EFFECT_CONFIRMED")
    assert (await run(service, probe)).status is ExecutionStatus.SUCCEEDED
    assert service.handler.effects[f"{execution.id}:second"] == 1
    assert len(probe.asked) == 1
    second = (await service.checkpoints(execution))[SECOND]
    assert (second.status, second.result, second.attempts) == (CheckpointStatus.SUCCEEDED, {"value": 2}, 1)
    assert second.provider_reference == "ref-second"
    assert (await service.seen(execution.request_id)).state == "DONE"


async def test_the_question_carries_the_stable_key_and_the_inputs_of_the_action() -> None:
    service, probe = uncertain_service(), ScriptedProbe(CONFIRMED)
    execution = await service.accepted()
    await run(service, probe)
    (asked,) = probe.asked
    attempted = service.handler.attempts[-1]
    assert asked.external_key == attempted.external_key == f"{execution.id}:second"
    assert (asked.inputs, asked.contract, asked.attempt) == (attempted.inputs, attempted.contract, 1)


async def test_what_a_probe_said_is_in_the_history_before_the_run_goes_on() -> None:
    service, probe = uncertain_service(), ScriptedProbe(NotFound(), CONFIRMED)
    execution = await service.accepted()
    await run(service, probe)
    await service.harness.make_due(execution.id)
    await run(service, probe)
    history = await service.history(execution)
    assert [entry.kind for entry in history[-2:]] == [AuditKind.EFFECT_PROBED] * 2
    assert [entry.detail for entry in history[-2:]] == [
        {"action": "second", "probe": "NOT_FOUND"},
        {"action": "second", "probe": "CONFIRMED"},
    ]
    assert verify_chain(history) is None


@pytest.mark.parametrize("silence", [NotFound(), Inconclusive(error_code="PROVIDER_TIMEOUT")])
async def test_what_is_never_confirmed_waits_for_an_operator_with_what_was_said(silence: ProbeResult) -> None:
    service, probe = uncertain_service(), ScriptedProbe(*[silence] * 20)
    execution = await service.accepted()
    ended = await run(service, probe)
    while ended.status is ExecutionStatus.RETRY_WAIT:
        assert ended.error_code == "PROVIDER_TIMEOUT"
        await wait_until_due(service, execution)
        ended = await run(service, probe)
    assert (ended.status, ended.error_code) == (ExecutionStatus.RECONCILIATION_REQUIRED, "PROVIDER_TIMEOUT")
    assert 3 <= len(probe.asked) <= 5
    assert len(service.handler.attempts) == 2
    second = (await service.checkpoints(execution))[SECOND]
    assert (second.status, second.error_code) == (CheckpointStatus.UNKNOWN, "PROVIDER_TIMEOUT")
    last = (await service.history(execution))[-1]
    outcome = "NOT_FOUND" if isinstance(silence, NotFound) else "PROVIDER_TIMEOUT"
    assert last.kind is AuditKind.RECONCILIATION_REQUIRED
    assert last.detail == {"errorCode": "PROVIDER_TIMEOUT", "action": "second", "probe": outcome}
    await require_shown(service, execution, asked=len(probe.asked), outcome=outcome)


async def wait_until_due(service: EmbeddedService, execution: Execution) -> None:
    seen = await service.execution(execution)
    assert seen.next_attempt_at is not None
    clock = service.harness.clock
    clock.advance(max((seen.next_attempt_at - clock.now()).total_seconds(), 0.0))


async def require_shown(service: EmbeddedService, execution: Execution, *, asked: int, outcome: str) -> None:
    stopped = StoppedExecutions(
        unit_of_work=service.unit_of_work, flows=service.flows, catalogue=service.catalogue
    )
    made = (await stopped.find(execution.id, OPERATOR)).case.probes
    assert made is not None
    assert (made.action, made.asked, made.outcome) == (SECOND, asked, outcome)


async def test_a_result_that_breaks_the_contract_is_no_confirmation() -> None:
    service, probe = uncertain_service(), ScriptedProbe(Confirmed(result={"value": "two"}))
    execution = await service.accepted()
    assert (await run(service, probe)).status is ExecutionStatus.RETRY_WAIT
    assert (await service.checkpoints(execution))[SECOND].status is CheckpointStatus.UNKNOWN
    assert (await service.history(execution))[-1].detail == {
        "action": "second",
        "probe": "CONTRACT_VIOLATION",
    }


async def test_a_worker_that_died_during_the_call_leaves_a_question_to_the_next_one() -> None:
    service, probe = uncertain_service(), ScriptedProbe(CONFIRMED)
    execution = await service.accepted()

    async def dying(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        if definition.id == SECOND:
            service.handler.effects[context.external_key] += 1
            raise SimulatedCrash("The process ended here.")
        return chain_result(definition.id)

    with pytest.raises(SimulatedCrash):
        await service.runner(attempt=dying).run(await service.claimed())
    await service.harness.expire_lease(execution.id)
    assert (await run(service, probe)).error_code == "EFFECT_CONFIRMED"
    assert (await run(service, probe)).status is ExecutionStatus.SUCCEEDED
    assert service.handler.effects[f"{execution.id}:second"] == 1


# Start, attempt, (end and start), attempt, doubt, question, its answer; then start, attempt, completion.
AWAITS = 10


@pytest.mark.parametrize("crash", points(AWAITS), ids=str)
async def test_a_run_that_dies_anywhere_around_a_question_pays_once_and_ends(crash: CrashPoint) -> None:
    service, fate = uncertain_service(), Fate((crash,))
    execution = await service.accepted()
    await to_the_end(service, execution, fate)
    seen = await service.execution(execution)
    paid = service.handler.effects[f"{execution.id}:second"]
    # A call that never left is in doubt like any other, and then nothing confirms it.
    expected = ExecutionStatus.SUCCEEDED if paid else ExecutionStatus.RECONCILIATION_REQUIRED
    assert (seen.status, paid <= 1) == (expected, True)
    told = await kinds(service, execution)
    assert told.count(AuditKind.TRANSITION_COMPLETED) == (expected is ExecutionStatus.SUCCEEDED)
    assert verify_chain(await service.history(execution)) is None


async def test_a_run_around_a_question_has_the_awaits_that_are_crashed_above() -> None:
    service, fate = uncertain_service(), Fate(())
    execution = await service.accepted()
    await to_the_end(service, execution, fate)
    assert fate.awaits == AWAITS


async def to_the_end(service: EmbeddedService, execution: Execution, fate: Fate) -> None:
    """Run with a provider that knows exactly what it has done, whoever dies in between."""

    async def attempt(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        fate.begin()
        result = await service.handler.execute(definition, context)
        fate.end()
        return result

    async def ask(_definition: ActionDefinition, context: ActionContext) -> ProbeResult:
        fate.begin()
        known = service.handler.effects[context.external_key] > 0
        fate.end()
        return CONFIRMED if known else NotFound()

    for number in range(30):
        status = (await service.execution(execution)).status
        if status in (ExecutionStatus.SUCCEEDED, ExecutionStatus.RECONCILIATION_REQUIRED):
            return
        if status is ExecutionStatus.RUNNING:
            await service.harness.expire_lease(execution.id)
        if status is ExecutionStatus.RETRY_WAIT:
            await wait_until_due(service, execution)
        (claimed,) = await service.harness.queue().claim(
            owner=LeaseOwner(f"worker-{number}"), limit=1, lease_seconds=LEASE_SECONDS
        )
        runner = service.runner(queue=FatedQueue(service, fate), attempt=attempt, probe=ask)
        try:
            await runner.run(claimed)
        except SimulatedCrash:
            continue
    raise AssertionError("The execution comes to no end.")


async def test_an_attempt_that_is_held_back_leaves_no_start_behind() -> None:
    """A start whose run dies puts an unsafe effect into doubt, so what isn't worth a call isn't started."""
    service, held = uncertain_service(chain_result(SECOND)), [Parked(retry_after_seconds=30.0)]

    def hold(definition: ActionDefinition, _context: ActionContext) -> Parked | None:
        return held.pop() if definition.id == SECOND and held else None

    execution = await service.accepted()
    ended = await service.runner(held=hold).run(await service.claimed())
    assert (ended.status, ended.error_code) == (ExecutionStatus.RETRY_WAIT, "CIRCUIT_OPEN")
    second = (await service.checkpoints(execution))[SECOND]
    assert (second.status, second.attempts, second.uncertain) == (CheckpointStatus.PENDING, 0, False)
    assert [attempt.external_key for attempt in service.handler.attempts] == [f"{execution.id}:first"]
    await wait_until_due(service, execution)
    assert (await service.runner(held=hold).run(await service.claimed())).status is ExecutionStatus.SUCCEEDED
    assert (await service.checkpoints(execution))[SECOND].attempts == 1


async def test_what_is_held_back_for_too_long_uses_up_attempts_and_fails() -> None:
    service = uncertain_service(chain_result(SECOND))

    def hold(definition: ActionDefinition, _context: ActionContext) -> Parked | None:
        return Parked(retry_after_seconds=300.0) if definition.id == SECOND else None

    execution, parked = await service.accepted(), 0
    ended = await service.runner(held=hold).run(await service.claimed())
    while ended.status is ExecutionStatus.RETRY_WAIT:
        parked += 1
        await wait_until_due(service, execution)
        ended = await service.runner(held=hold).run(await service.claimed())
    assert (ended.status, ended.error_code) == (ExecutionStatus.FAILED, "CIRCUIT_OPEN")
    assert parked > 3
    assert (await service.checkpoints(execution))[SECOND].attempts == 3
    assert not service.handler.effects.get(f"{execution.id}:second")
