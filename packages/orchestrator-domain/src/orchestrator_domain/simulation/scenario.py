"""One event on one snapshot, with the results of its actions supplied: no request, no call, no store.

Acceptance, steps, contracts, decision and updates are judged by the very functions that judge the real thing, so what
this answers is what would happen.
"""

from collections.abc import Mapping
from typing import assert_never
from uuid import UUID

from attrs import evolve, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.decision.compiled import resolve_operand
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.errors import InvalidInput, OrchestratorError
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.execution.attempt import Succeeded
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import (
    Evaluate,
    FinishedTransition,
    RunFault,
    finished_transition,
)
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.execution.stepping import (
    AskProbe,
    FinishTransition,
    Run,
    StartAction,
    StopRun,
    next_step,
)
from orchestrator_domain.execution.verdict import GiveUp, GoOn, InDoubt, RetryLater, judge
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ByDecision, Transition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    EventKey,
    ExecutionId,
    FlowId,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Sha256Hex,
    StateKey,
    Subject,
    TransitionKey,
)
from orchestrator_domain.request.acceptance import (
    Accepted,
    AcceptEventCommand,
    AnyRevision,
    decide_acceptance,
)
from orchestrator_domain.request.request import FlowReference, Request
from orchestrator_domain.simulation.no_op import NO_OP

_NOWHERE = UUID(int=0)


@frozen(kw_only=True)
class Scenario:
    """What is supposed: a request in `state` with `data`, an event of `actor`, and what each action would give."""

    state: StateKey
    data: JsonObject
    event: EventKey
    event_data: JsonObject
    actor: Actor
    results: Mapping[ActionKey, JsonObject]


@frozen(kw_only=True)
class SimulatedAction:
    """One action that had its turn: what it would be given, and what it was supposed to give."""

    action: ActionKey
    inputs: JsonObject
    result: JsonObject


@frozen(kw_only=True)
class SimulatedUpdate:
    target: str
    value: JsonValue


@frozen(kw_only=True)
class NotAccepted:
    """The event would be refused; nothing would happen."""

    refusal: OrchestratorError


@frozen(kw_only=True)
class Stopped:
    """The event would be accepted and its run would fail; state and data stay as they are."""

    transition: TransitionKey
    actions: tuple[SimulatedAction, ...]
    fault: RunFault


@frozen(kw_only=True)
class Transitioned:
    """The transition would be completed; `trace` is what the history would record of it."""

    transition: TransitionKey
    actions: tuple[SimulatedAction, ...]
    trace: JsonObject
    updates: tuple[SimulatedUpdate, ...]
    outcome: str
    state: StateKey
    data: JsonObject


type Simulated = NotAccepted | Stopped | Transitioned


def simulated(
    flow: ReadyFlow,
    scenario: Scenario,
    *,
    contracts: Mapping[tuple[TransitionKey, ActionKey], ActionContract],
    evaluate: Evaluate,
    limits: FlowLimits,
) -> Simulated:
    """Return what would come of the event in a flow that is sound.

    `contracts` lacks the actions that the deployment can't serve. Faults beside those of a run: RESULT_MISSING for an
    action that no result is supplied for. Raises InvalidInput for a scenario that supposes what can't be.
    """
    _require_possible(flow, scenario)
    request = _request(flow, scenario)
    try:
        accepted = _accepted(flow, scenario, request)
    except OrchestratorError as refusal:
        return NotAccepted(refusal=refusal)
    transition = flow.definition.transition(accepted.execution.transition)
    assert transition is not None, "acceptance took the transition from this very version"
    of_transition = {action: contract for (of, action), contract in contracts.items() if of == transition.id}
    return _run(flow, scenario, accepted.execution, transition, of_transition, evaluate, limits)


def _require_possible(flow: ReadyFlow, scenario: Scenario) -> None:
    if flow.definition.state(scenario.state) is None:
        raise InvalidInput("The flow has no such state.", pointer="/state")
    violations = [("/data" + each.pointer, each.message) for each in flow.data_violations(scenario.data)]
    if violations:
        raise InvalidInput(
            "No request of this flow can hold this data; see the violations.",
            pointer=violations[0][0],
            violations=violations,
        )
    known = {action.id for transition in flow.definition.transitions for action in transition.actions}
    if not scenario.results.keys() <= known:
        raise InvalidInput("A result is supplied for an action that the flow hasn't.", pointer="/results")


def _request(flow: ReadyFlow, scenario: Scenario) -> Request:
    definition = flow.definition
    reference = FlowReference(
        id=FlowId(_NOWHERE),
        key=definition.flow_key,
        version=definition.version,
        checksum=Sha256Hex("0" * 64),
    )
    return Request(
        id=RequestId(_NOWHERE),
        type_key=RequestTypeKey("simulation"),
        flow=reference,
        state=scenario.state,
        data=scenario.data,
        owner=Subject("simulation"),
        scope=BusinessScope("simulation"),
    )


def _accepted(flow: ReadyFlow, scenario: Scenario, request: Request) -> Accepted:
    command = AcceptEventCommand(
        request_id=request.id,
        event=scenario.event,
        data=scenario.event_data,
        key=IdempotencyKey("simulation"),
        precondition=AnyRevision(),
    )
    decision = decide_acceptance(
        command,
        scenario.actor,
        request=request,
        flow=flow,
        earlier=None,
        active=None,
        execution_id=ExecutionId(_NOWHERE),
    )
    assert isinstance(decision, Accepted), "nothing is repeated here"
    return decision


def _run(
    flow: ReadyFlow,
    scenario: Scenario,
    execution: Execution,
    transition: Transition,
    contracts: Mapping[ActionKey, ActionContract],
    evaluate: Evaluate,
    limits: FlowLimits,
) -> Stopped | Transitioned:
    done: tuple[SimulatedAction, ...] = ()
    run = Run(
        execution=execution,
        request_data=scenario.data,
        transition=transition,
        contracts=contracts,
        checkpoints={},
    )
    while True:
        match next_step(run):
            case StartAction() as step:
                attempted = _attempted(step, scenario)
                if isinstance(attempted, RunFault):
                    return Stopped(transition=transition.id, actions=done, fault=attempted)
                done += (_simulated_action(step, attempted),)
                run = evolve(run, checkpoints={**run.checkpoints, attempted.action: attempted})
            case AskProbe():
                raise AssertionError("What is in doubt has stopped the scenario.")
            case StopRun(fault=fault):
                return Stopped(transition=transition.id, actions=done, fault=fault)
            case FinishTransition(context=context, results=results):
                finished = finished_transition(
                    flow=flow,
                    transition=transition,
                    context=context,
                    results=results,
                    contracts=contracts,
                    evaluate=evaluate,
                    limits=limits,
                )
                return _finished(transition, done, finished, context)
            case _ as unreachable:
                assert_never(unreachable)


def _attempted(step: StartAction, scenario: Scenario) -> Checkpoint | RunFault:
    action = step.definition
    supplied = scenario.results.get(action.id, {} if action.type == NO_OP else None)
    if supplied is None:
        return RunFault(code="RESULT_MISSING", detail={"action": action.id})
    match judge(step, Succeeded(result=supplied), fraction=0.0):
        case GoOn(checkpoint=checkpoint):
            return checkpoint
        case GiveUp(error_code=code, detail=detail) | InDoubt(error_code=code, detail=detail):
            return RunFault(code=code, detail={"action": action.id, **detail})
        case RetryLater():
            raise AssertionError("A success is never tried again.")
        case _ as unreachable:
            assert_never(unreachable)


def _simulated_action(step: StartAction, done: Checkpoint) -> SimulatedAction:
    assert done.result is not None, "a SUCCEEDED checkpoint holds its result"
    return SimulatedAction(action=step.definition.id, inputs=step.inputs, result=done.result)


def _finished(
    transition: Transition,
    done: tuple[SimulatedAction, ...],
    finished: FinishedTransition | RunFault,
    context: EvaluationContext,
) -> Stopped | Transitioned:
    if isinstance(finished, RunFault):
        return Stopped(transition=transition.id, actions=done, fault=finished)
    completion = finished.completion
    outcome = str(completion.result["outcome"])
    return Transitioned(
        transition=transition.id,
        actions=done,
        trace=finished.detail,
        updates=_applied(transition, outcome, context),
        outcome=outcome,
        state=completion.state,
        data=completion.data,
    )


def _applied(transition: Transition, outcome: str, context: EvaluationContext) -> tuple[SimulatedUpdate, ...]:
    output = outcome if isinstance(transition.route, ByDecision) else None
    values = [
        (update, resolve_operand(update.value, context))
        for update in transition.updates
        if update.applies_to(output)
    ]
    return tuple(
        SimulatedUpdate(target=str(update.target), value=value)
        for update, value in values
        if not isinstance(value, Absent)
    )
