"""What a run stores together, and what is left when storing it fails."""

import pytest
from attrs import evolve
from tests.plugins.embedded_service import EmbeddedService, go, service_with
from tests.plugins.recording_queue import RecordingQueue

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, StorageUnavailable
from orchestrator_domain.execution.attempt import (
    ActionResult,
)
from orchestrator_domain.execution.checkpoint import CheckpointStatus
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_document
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.recording_observer import ExecutionEnded

READ, UNSAFE = Effect.READ_ONLY, Effect.NON_IDEMPOTENT_WRITE


async def test_a_success_shares_its_commit_with_the_next_start_and_the_last_one_with_the_completion() -> None:
    service = EmbeddedService()
    service.script()
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
    service.script()
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
    service.script()
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
    service.script()
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
    service.script()
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
    service.script()
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
