"""Operators resolve what stopped; the run goes on from there, or the request is released as it was."""

import asyncio

import pytest
from attrs import evolve
from tests.plugins.embedded_service import EmbeddedService, go, service_with

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditKind, verify_chain
from orchestrator_domain.errors import (
    AccessDenied,
    ExecutionNotResolvable,
    IdempotencyConflict,
    NotFound,
    OrchestratorError,
)
from orchestrator_domain.execution.attempt import NoWholeAnswer, Refused
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.reconciliation import (
    CloseWithoutTransition,
    Evidence,
    ResolutionKind,
    ResolveCommand,
    ResumeEffectAbsent,
    ResumeWithResult,
    Way,
)
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    CorrelationId,
    ExecutionId,
    FencingToken,
    IdempotencyKey,
    Role,
    Subject,
)
from orchestrator_domain.ports.observer import Command
from orchestrator_domain.testing.chain import chain_result
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.recording_observer import CommandRefused, ExecutionWasResolved
from orchestrator_domain.testing.scripted_handlers import ScriptedHandler
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.resolve_execution import ExecutionResolved, ResolveExecution
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions

FIRST, SECOND, THIRD = ActionKey("first"), ActionKey("second"), ActionKey("third")
OPERATOR = Actor(
    subject=Subject("operator-1"),
    roles=frozenset({Role("EXECUTION_OPERATOR")}),
    scopes=frozenset({BusinessScope("NORTH")}),
)
ELSEWHERE = evolve(OPERATOR, scopes=frozenset({BusinessScope("SOUTH")}))
# Owns the request and is an operator, but not of the request's scope.
OWNER_AS_OPERATOR = evolve(ELSEWHERE, subject=CLERK.subject)
EVIDENCE = Evidence(text="Seen in the ledger of the provider.", reference="CASE-7")
WAYS: tuple[Way, ...] = (
    ResumeWithResult(result={"value": 2}),
    ResumeEffectAbsent(),
    CloseWithoutTransition(),
)


def uncertain_service() -> EmbeddedService:
    """Return a service whose second action writes once and loses the first answer."""
    handler = ScriptedHandler()
    handler.script(FIRST, chain_result(FIRST))
    handler.script(SECOND, NoWholeAnswer(), chain_result(SECOND))
    handler.script(THIRD, chain_result(THIRD))
    return service_with(Effect.READ_ONLY, Effect.NON_IDEMPOTENT_WRITE, Effect.READ_ONLY, handler=handler)


async def stopped(service: EmbeddedService) -> Execution:
    execution = await service.accepted()
    ended = await service.run()
    assert ended.status is ExecutionStatus.RECONCILIATION_REQUIRED
    return execution


def stopped_executions(service: EmbeddedService) -> StoppedExecutions:
    return StoppedExecutions(
        unit_of_work=service.unit_of_work, flows=service.flows, catalogue=service.catalogue
    )


def resolving(service: EmbeddedService) -> ResolveExecution:
    return ResolveExecution(
        unit_of_work=service.unit_of_work,
        stopped=stopped_executions(service),
        identifiers=service.identifiers,
        wakeup=service.wakeup,
        observer=service.observer,
    )


def attempted(service: EmbeddedService) -> list[str]:
    """Return the actions that were attempted, in order, as their keys tell them."""
    return [one.external_key.partition(":")[2] for one in service.handler.attempts]


def command(
    execution: Execution,
    way: Way,
    *,
    key: str = "resolve-1",
    action: ActionKey | None = SECOND,
    stop: FencingToken | None = None,
) -> ResolveCommand:
    return ResolveCommand(
        execution_id=execution.id,
        action=action,
        way=way,
        evidence=EVIDENCE,
        key=IdempotencyKey(key),
        correlation_id=CorrelationId("trace-9"),
        stop=stop,
    )


async def resolve(
    service: EmbeddedService,
    execution: Execution,
    way: Way,
    *,
    operator: Actor = OPERATOR,
    key: str = "r-1",
    stop: FencingToken | None = None,
) -> ExecutionResolved:
    return await resolving(service)(command(execution, way, key=key, stop=stop), operator)


async def test_a_confirmed_effect_is_not_repeated_and_the_transition_is_finished() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    hints = service.wakeup.hints
    resolved = await resolve(service, execution, ResumeWithResult(result={"value": 20}))
    assert (resolved.execution.status, resolved.replayed) == (ExecutionStatus.PENDING, False)
    assert service.wakeup.hints == hints + 1
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED
    assert attempted(service) == [FIRST, SECOND, THIRD]
    seen = await service.seen(execution.request_id)
    assert seen.data["second"] == {"value": 20}


async def test_the_observer_is_told_of_a_resolution_once_and_of_every_refusal() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    service.observer.observations.clear()
    absent = ResumeEffectAbsent()
    await resolve(service, execution, absent)
    assert (await resolve(service, execution, absent)).replayed
    with pytest.raises(ExecutionNotResolvable):
        await resolve(service, execution, absent, key="r-2")
    with pytest.raises(AccessDenied):
        await resolve(service, execution, absent, operator=CLERK)
    assert service.observer.observations == [
        ExecutionWasResolved(
            request_id=execution.request_id, execution_id=execution.id, resolution="RESUME_EFFECT_ABSENT"
        ),
        CommandRefused(command=Command.RESOLVE_EXECUTION, code="EXECUTION_NOT_RESOLVABLE"),
        CommandRefused(command=Command.RESOLVE_EXECUTION, code="ACCESS_DENIED"),
    ]


async def test_an_absent_effect_is_tried_again_under_its_key() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    await resolve(service, execution, ResumeEffectAbsent())
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED
    first, second = [one for one in service.handler.attempts if one.external_key.endswith(":second")]
    assert first.external_key == second.external_key == f"{execution.id}:second"
    assert (first.attempt, second.attempt) == (1, 1)
    assert second.fencing_token > first.fencing_token


async def test_a_closed_execution_releases_its_request_as_it_was() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    before = await service.seen(execution.request_id)
    resolved = await resolve(service, execution, CloseWithoutTransition())
    assert resolved.execution.status is ExecutionStatus.FAILED
    after = await service.seen(execution.request_id)
    assert (after.state, after.data) == (before.state, before.data)
    assert after.revision == before.revision + 1
    assert (await service.accept(go(execution.request_id, key="go-2"), CLERK)).replayed is False


async def test_a_resolution_is_told_by_the_history_and_its_chain_holds() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    resolved = await resolve(service, execution, CloseWithoutTransition())
    history = await service.history(execution)
    last = history[-1]
    assert (last.kind, last.actor, last.execution_id) == (
        AuditKind.RECONCILIATION_RESOLVED,
        OPERATOR.subject,
        execution.id,
    )
    assert last.detail == {
        "resolutionId": str(resolved.resolution.id),
        "resolution": "CLOSE_WITHOUT_TRANSITION",
        "action": "second",
        "stop": 1,
        "errorCode": "PROVIDER_TIMEOUT",
        "payloadHash": resolved.resolution.payload_hash,
        "correlationId": "trace-9",
    }
    assert verify_chain(history) is None


@pytest.mark.parametrize("way", WAYS)
async def test_a_repeated_resolution_is_answered_with_the_first_one(way: Way) -> None:
    service = uncertain_service()
    execution = await stopped(service)
    first = await resolve(service, execution, way)
    history = await service.history(execution)
    if first.execution.status.active:
        await service.run()
    again = await resolve(service, execution, way)
    assert again.replayed
    assert again.resolution.id == first.resolution.id
    assert again.execution == await service.execution(execution)
    assert (await service.history(execution))[: len(history)] == history
    assert sum(one.kind is AuditKind.RECONCILIATION_RESOLVED for one in await service.history(execution)) == 1


async def test_another_resolution_under_the_key_is_a_conflict() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    await resolve(service, execution, ResumeEffectAbsent())
    with pytest.raises(IdempotencyConflict):
        await resolve(service, execution, CloseWithoutTransition())


async def test_a_second_resolution_under_another_key_finds_nothing_to_resolve() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    await resolve(service, execution, ResumeEffectAbsent())
    with pytest.raises(ExecutionNotResolvable):
        await resolve(service, execution, CloseWithoutTransition(), key="r-2")


async def test_of_two_resolutions_at_once_one_is_refused() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    answers = await asyncio.gather(
        resolve(service, execution, ResumeEffectAbsent(), key="r-1"),
        resolve(service, execution, CloseWithoutTransition(), key="r-2"),
        return_exceptions=True,
    )
    assert sorted(type(answer).__name__ for answer in answers) == [
        "ExecutionNotResolvable",
        "ExecutionResolved",
    ]


@pytest.mark.parametrize(
    ("operator", "refusal"),
    [(CLERK, AccessDenied), (ELSEWHERE, NotFound), (OWNER_AS_OPERATOR, NotFound)],
    ids=["no-operator", "other-scope", "owner-without-the-scope"],
)
async def test_only_an_operator_of_the_request_s_scope_resolves(
    operator: Actor, refusal: type[OrchestratorError]
) -> None:
    service = uncertain_service()
    execution = await stopped(service)
    before = await service.history(execution)
    with pytest.raises(refusal):
        await resolve(service, execution, CloseWithoutTransition(), operator=operator)
    with pytest.raises(refusal):
        await stopped_executions(service).find(execution.id, operator)
    assert await service.history(execution) == before


async def test_an_execution_that_does_not_exist_is_not_found() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    unknown = evolve(execution, id=ExecutionId(service.identifiers.uuid()))
    with pytest.raises(NotFound):
        await resolve(service, unknown, CloseWithoutTransition())


async def test_a_fresh_budget_may_be_used_up_again_and_resolved_again() -> None:
    handler = ScriptedHandler()
    handler.script(FIRST, chain_result(FIRST))
    handler.script(SECOND, NoWholeAnswer(), NoWholeAnswer())
    service = service_with(Effect.NON_IDEMPOTENT_WRITE, handler=handler)
    execution = await stopped(service)
    await resolve(service, execution, ResumeEffectAbsent())
    assert (await service.run()).status is ExecutionStatus.RECONCILIATION_REQUIRED
    await resolve(service, execution, CloseWithoutTransition(), key="r-2")
    shown = await stopped_executions(service).find(execution.id, OPERATOR)
    assert [one.kind for one in shown.resolutions] == [
        ResolutionKind.RESUME_EFFECT_ABSENT,
        ResolutionKind.CLOSE_WITHOUT_TRANSITION,
    ]
    assert shown.stop.admits == ()


async def test_what_was_verified_of_one_stop_is_never_taken_for_a_later_one_at_the_same_action() -> None:
    handler = ScriptedHandler()
    handler.script(FIRST, chain_result(FIRST))
    handler.script(SECOND, NoWholeAnswer(), NoWholeAnswer())
    service = service_with(Effect.READ_ONLY, Effect.NON_IDEMPOTENT_WRITE, handler=handler)
    execution = await stopped(service)
    seen = (await stopped_executions(service).find(execution.id, OPERATOR)).stop.token
    await resolve(service, execution, ResumeEffectAbsent(), key="faster", stop=seen)
    assert (await service.run()).status is ExecutionStatus.RECONCILIATION_REQUIRED
    for way in WAYS:
        with pytest.raises(ExecutionNotResolvable) as refusal:
            await resolve(service, execution, way, key="late", stop=seen)
        assert refusal.value.pointer == "/stop"
    assert attempted(service) == [FIRST, SECOND, SECOND]
    # The command that was made is still told as made, by its key; of another stop it would be another command.
    assert (await resolve(service, execution, ResumeEffectAbsent(), key="faster", stop=seen)).replayed
    now = (await stopped_executions(service).find(execution.id, OPERATOR)).stop.token
    with pytest.raises(IdempotencyConflict):
        await resolve(service, execution, ResumeEffectAbsent(), key="faster", stop=now)
    closed = await resolve(service, execution, CloseWithoutTransition(), key="verified-anew", stop=now)
    assert closed.execution.status is ExecutionStatus.FAILED


async def test_an_operator_is_shown_where_an_execution_stands_and_what_it_admits() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    page = await stopped_executions(service).list_cases(OPERATOR)
    (shown,) = page.items
    assert page.last is None
    assert (shown.case.execution.id, shown.stop.action) == (execution.id, SECOND)
    assert shown.stop.admits == tuple(ResolutionKind)
    assert shown.contract == service.catalogue.contracts[SECOND]


async def test_a_refused_action_after_a_write_may_run_again_and_takes_no_result_when_it_only_reads() -> None:
    handler = ScriptedHandler()
    handler.script(FIRST, chain_result(FIRST))
    handler.script(SECOND, Refused(), chain_result(SECOND))
    handler.script(THIRD, chain_result(THIRD))
    service = service_with(Effect.IDEMPOTENT_WRITE, Effect.READ_ONLY, handler=handler)
    execution = await stopped(service)
    with pytest.raises(ExecutionNotResolvable):
        await resolve(service, execution, ResumeWithResult(result={"value": 2}))
    await resolve(service, execution, ResumeEffectAbsent(), key="r-2")
    assert (await service.run()).status is ExecutionStatus.SUCCEEDED
    assert attempted(service) == [FIRST, SECOND, SECOND, THIRD]


async def test_a_page_ends_where_more_follow() -> None:
    handler = ScriptedHandler()
    handler.script(FIRST, NoWholeAnswer(), NoWholeAnswer())
    service = service_with(Effect.NON_IDEMPOTENT_WRITE, handler=handler)
    execution = await stopped(service)
    second = await service.created(key="create-2")
    later = (await service.accept(go(second.id), CLERK)).execution
    await service.run()
    first_page = await stopped_executions(service).list_cases(OPERATOR, limit=1)
    assert [one.case.execution.id for one in first_page.items] == [execution.id]
    rest = await stopped_executions(service).list_cases(OPERATOR, limit=1, after=first_page.last)
    assert ([one.case.execution.id for one in rest.items], rest.last) == ([later.id], None)


async def test_an_execution_whose_flow_is_gone_is_shown_and_can_only_be_closed() -> None:
    service = uncertain_service()
    execution = await stopped(service)
    service.harness.store.flows.rows.clear()
    service.flows = FlowLibrary()
    shown = await stopped_executions(service).find(execution.id, OPERATOR)
    assert (shown.stop.action, shown.contract) == (None, None)
    assert shown.stop.admits == (ResolutionKind.CLOSE_WITHOUT_TRANSITION,)
    await resolving(service)(command(execution, CloseWithoutTransition(), action=None), OPERATOR)
    assert (await service.execution(execution)).status is ExecutionStatus.FAILED
