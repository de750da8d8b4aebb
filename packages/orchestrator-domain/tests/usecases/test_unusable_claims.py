"""Claims that lead nowhere: poison, flows that can't be read, requests that have moved."""

import pytest
from attrs import evolve
from tests.plugins.embedded_service import EmbeddedService, service_with
from tests.plugins.recording_queue import RecordingQueue

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.attempt import (
    ActionResult,
)
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.poison import CLAIMS_WITHOUT_PROGRESS_MAX
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.chain import CHAIN_ACTIONS
from orchestrator_domain.usecases.run_execution import UNREADABLE_RETRY_SECONDS
from orchestrator_domain.usecases.run_progress import RunEnded

READ, IDEMPOTENT, UNSAFE = Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE, Effect.NON_IDEMPOTENT_WRITE
FAILED, WAITING = ExecutionStatus.FAILED, ExecutionStatus.RETRY_WAIT
STOPPED = ExecutionStatus.RECONCILIATION_REQUIRED


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
    service.script()
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
    assert not await service.due()
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
    service.script()
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
    service.script()
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
