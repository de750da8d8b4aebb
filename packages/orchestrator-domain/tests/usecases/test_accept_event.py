"""Accepting events: one short transaction, and a hint when it is durable."""

from asyncio import gather
from collections.abc import Awaitable, Callable

import pytest
from attrs import evolve, frozen
from tests.plugins.embedded_service import EmbeddedService, go

from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import (
    AccessDenied,
    IdempotencyConflict,
    InvalidEvent,
    NotFound,
    OrchestratorError,
    RequestBusy,
    RevisionMismatch,
)
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.identifiers import CorrelationId, EventKey, RequestId, Role
from orchestrator_domain.ports.observer import Command
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import RevisionIn
from orchestrator_domain.testing.chain import CHAIN_ACTIONS, chain_result
from orchestrator_domain.testing.examples import CLERK, COLLEAGUE, STRANGER
from orchestrator_domain.testing.recording_observer import CommandRefused, EventWasAccepted

VISITOR = evolve(CLERK, roles=frozenset({Role("VISITOR")}))


@pytest.fixture
async def service() -> EmbeddedService:
    service = EmbeddedService()
    await service.activated()
    return service


async def test_an_accepted_event_is_due_at_once_and_blocks_its_request(service: EmbeddedService) -> None:
    request = await service.created()
    accepted = await service.accept(go(request.id), CLERK)
    shown = await service.read.request(request.id, CLERK)
    assert (accepted.replayed, accepted.execution.status) == (False, ExecutionStatus.PENDING)
    assert (shown.active_execution, shown.request.revision) == (accepted.execution.id, 1)
    assert (await service.claimed()).execution.id == accepted.execution.id


async def test_an_acceptance_is_kept_in_the_history_without_its_data(service: EmbeddedService) -> None:
    request = await service.created()
    command = evolve(go(request.id, data={"note": "marker-7c1"}), correlation_id=CorrelationId("c-1"))
    execution = (await service.accept(command, CLERK)).execution
    history = await service.history(execution)
    assert (history[-1].kind, history[-1].execution_id) == (AuditKind.EVENT_ACCEPTED, execution.id)
    assert history[-1].detail == {
        "event": "GO",
        "transitionId": "go",
        "acceptedRevision": 1,
        "correlationId": "c-1",
    }
    assert verify_chain(history) is None


@frozen
class ForgetfulUnitOfWork(UnitOfWork):
    """Commit every story, lose the answer, and run the story again, as after a connection broken at the commit."""

    stores: UnitOfWork

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        await self.stores.run(story)
        return await self.stores.run(story)


async def test_the_observer_is_told_of_an_acceptance_once_and_workers_until_it_has_begun(
    service: EmbeddedService,
) -> None:
    request = await service.created()
    first = await service.accept(go(request.id), CLERK)
    repeat = await service.accept(go(request.id), CLERK)
    assert (repeat.replayed, repeat.execution.id) == (True, first.execution.id)
    assert service.wakeup.hints == 2
    await service.claimed()
    await service.accept(go(request.id), CLERK)
    assert service.wakeup.hints == 2
    assert service.observer.observations == [
        EventWasAccepted(request_id=request.id, execution_id=first.execution.id, flow=request.flow)
    ]


async def test_an_acceptance_whose_commit_was_not_answered_is_hinted_and_told_as_the_one_it_is(
    service: EmbeddedService,
) -> None:
    request = await service.created()
    accept = evolve(service.accept, unit_of_work=ForgetfulUnitOfWork(service.unit_of_work))
    accepted = await accept(go(request.id), CLERK)
    assert (accepted.replayed, service.wakeup.hints) == (False, 1)
    assert service.observer.observations == [
        EventWasAccepted(request_id=request.id, execution_id=accepted.execution.id, flow=request.flow)
    ]
    assert len(service.harness.store.executions.rows) == 1


async def test_a_repeat_finds_its_execution_after_it_has_ended(service: EmbeddedService) -> None:
    for action in CHAIN_ACTIONS:
        service.handler.script(action, chain_result(action))
    request = await service.created()
    await service.accept(go(request.id), CLERK)
    await service.run()
    repeat = await service.accept(go(request.id), COLLEAGUE)
    assert (repeat.replayed, repeat.execution.status) == (True, ExecutionStatus.SUCCEEDED)
    assert len(service.handler.attempts) == 3


async def test_of_two_events_at_once_one_is_accepted(service: EmbeddedService) -> None:
    request = await service.created()
    commands = (go(request.id, key="go-1"), go(request.id, key="go-2"))
    results = await gather(*(service.accept(command, CLERK) for command in commands), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["EventAccepted", "RequestBusy"]


async def test_of_two_events_at_once_for_one_revision_the_other_is_told_that_it_moved(
    service: EmbeddedService,
) -> None:
    request = await service.created()
    commands = [
        evolve(go(request.id, key=key), precondition=RevisionIn(tags=("0",))) for key in ("go-1", "go-2")
    ]
    results = await gather(*(service.accept(command, CLERK) for command in commands), return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["EventAccepted", "RevisionMismatch"]


async def test_one_event_sent_twice_at_once_is_one_execution(service: EmbeddedService) -> None:
    request = await service.created()
    results = await gather(*(service.accept(go(request.id), CLERK) for _ in range(3)))
    assert len({result.execution.id for result in results}) == 1
    assert sorted(result.replayed for result in results) == [False, True, True]


@pytest.mark.parametrize("flaw", ["unknown", "foreign", "revision", "event", "role"])
async def test_a_refused_event_changes_nothing_and_is_told_by_its_code(
    service: EmbeddedService, flaw: str
) -> None:
    request = await service.created()
    plain = go(request.id)
    command, actor, refusal = {
        "unknown": (evolve(plain, request_id=RequestId(service.identifiers.uuid())), CLERK, NotFound),
        "foreign": (plain, STRANGER, NotFound),
        "revision": (evolve(plain, precondition=RevisionIn(tags=("9",))), CLERK, RevisionMismatch),
        "event": (evolve(plain, event=EventKey("UNHEARD_OF")), CLERK, InvalidEvent),
        "role": (plain, VISITOR, AccessDenied),
    }[flaw]
    expected: type[OrchestratorError] = refusal
    with pytest.raises(expected):
        await service.accept(command, actor)
    assert await service.seen(request.id) == request
    assert not service.harness.store.executions.rows
    assert len(await service.harness.history(request.id)) == 1
    assert service.wakeup.hints == 0
    assert service.observer.observations == [CommandRefused(command=Command.SEND_EVENT, code=expected.code)]


async def test_a_key_used_for_another_command_is_a_conflict_even_while_the_first_one_runs(
    service: EmbeddedService,
) -> None:
    request = await service.created()
    await service.accept(go(request.id), CLERK)
    with pytest.raises(IdempotencyConflict):
        await service.accept(go(request.id, data={"note": 1}), CLERK)
    with pytest.raises(RequestBusy):
        await service.accept(go(request.id, key="go-2"), CLERK)
