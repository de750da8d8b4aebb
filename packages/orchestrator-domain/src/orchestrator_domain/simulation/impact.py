"""What would have come out differently, had another version of a flow decided what really happened.

Each event is taken by itself: the candidate meets it in the state and with the data that it really met, with the actor
who sent it and with the results that were recorded, so that one difference doesn't hide those that follow it.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import ClassVar, Final, assert_never

from attrs import frozen

from orchestrator_domain.errors import InvalidInput, OrchestratorError
from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.completion import Evaluate, FinishedTransition, RunFault
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId, StateKey, TransitionKey
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_domain.simulation.no_op import NO_OP_CONTRACT
from orchestrator_domain.simulation.recorded import FAULTS_OF_RULES, replayed_end
from orchestrator_domain.simulation.scenario import (
    NotAccepted,
    Scenario,
    Simulated,
    Stopped,
    Transitioned,
    simulated,
)

RESULT_MISSING: Final = "RESULT_MISSING"
"""The code of an ending that can't be told, because the candidate asks for a result that nobody recorded."""


class PastNotReplayable(OrchestratorError):
    """A recorded event doesn't come out as recorded by its own version, so nothing can be compared from there on."""

    code: ClassVar[str] = "PAST_NOT_REPLAYABLE"


@frozen(kw_only=True)
class Ending:
    """What an event came to: an outcome and a state, or an error; and which rules decided (none: the default)."""

    outcome: str | None = None
    state: StateKey | None = None
    error: str | None = None
    decision: str | None = None
    rules: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the outcome, or the error's code."""
        return self.outcome or self.error or "none"


@frozen(kw_only=True)
class Compared:
    """One event as it came out and as it would have; `scenario` and `simulated` say how, where it could be tried."""

    request_id: RequestId
    execution_id: ExecutionId
    transition: TransitionKey
    before: Ending
    after: Ending
    data_differs: bool
    scenario: Scenario
    simulated: Simulated | None

    @property
    def is_told(self) -> bool:
        return self.after.error != RESULT_MISSING

    @property
    def differs(self) -> bool:
        """Say whether outcome, state, error or data would be others; deciding rules alone are no difference."""
        same = (self.before.outcome, self.before.state, self.before.error) == (
            self.after.outcome,
            self.after.state,
            self.after.error,
        )
        return self.is_told and (self.data_differs or not same)


@frozen(kw_only=True)
class Candidate:
    """A version that might be published, and what it is held to."""

    flow: ReadyFlow
    evaluate: Evaluate

    def ending(self, scenario: Scenario) -> tuple[Ending, Simulated | None]:
        """Return what the candidate would make of an event."""
        try:
            found = simulated(
                self.flow,
                scenario,
                contracts=_open_contracts(self.flow.definition),
                evaluate=self.evaluate,
                limits=FlowLimits(),
            )
        except InvalidInput as refusal:
            code = "STATE_MISSING" if refusal.pointer == "/state" else "DATA_REFUSED"
            return Ending(error=code), None
        return _ending(found, scenario), found


def compared_events(
    recorded: RecordedRuns,
    pinned: ReadyFlow,
    candidate: Candidate,
    *,
    since: datetime | None = None,
) -> Iterator[Compared]:
    """Compare each event whose end its rules and data alone led to, in order; those before `since` are passed over.

    Raises PastNotReplayable at the first that its own version doesn't end as recorded; `verified` tells why. So it does
    where what they rest on has been erased.
    """
    if not recorded.replayable:
        raise PastNotReplayable("What the recorded events rest on has been erased.")
    data = recorded.initial_data
    for execution in sorted(recorded.executions, key=lambda each: each.accepted_revision):
        again = _again(recorded, execution, data, pinned, candidate.evaluate)
        if again is None:
            continue
        if isinstance(again, RunFault) and again.code != execution.error_code:
            raise PastNotReplayable("A recorded event doesn't come out as it was recorded.")
        if since is None or (execution.created_at is not None and execution.created_at >= since):
            yield _compared(recorded, execution, data, again, candidate)
        if isinstance(again, FinishedTransition):
            data = again.completion.data


def burden(recorded: RecordedRuns, pinned: ReadyFlow, candidate: ReadyFlow) -> str | None:
    """Say by a code why the candidate couldn't carry a request that is under way; None where it could, or needn't."""
    request = recorded.request
    if not recorded.replayable:
        return None
    state = pinned.definition.state(request.state)
    if state is None or state.terminal:
        return None
    if candidate.definition.state(request.state) is None:
        return "STATE_MISSING"
    if candidate.data_violations(request.data):
        return "DATA_REFUSED"
    for execution in recorded.executions:
        if execution.status.active and not _has_transition(candidate.definition, execution):
            return "TRANSITION_MISSING"
    return None


def _has_transition(definition: FlowDefinition, execution: Execution) -> bool:
    transition = definition.transition(execution.transition)
    return transition is not None and transition.from_state == execution.from_state


def _again(
    recorded: RecordedRuns, execution: Execution, data: JsonObject, pinned: ReadyFlow, evaluate: Evaluate
) -> FinishedTransition | RunFault | None:
    """End an execution as it ended; None for one that hasn't, or that something else than rules and data ended."""
    if execution.status is not ExecutionStatus.SUCCEEDED and execution.error_code not in FAULTS_OF_RULES:
        return None
    transition = pinned.definition.transition(execution.transition)
    assert transition is not None, "acceptance took the transition from this very version"
    return replayed_end(
        execution,
        data,
        flow=pinned,
        transition=transition,
        checkpoints=recorded.checkpoints.get(execution.id, ()),
        evaluate=evaluate,
    )


def _compared(
    recorded: RecordedRuns,
    execution: Execution,
    data: JsonObject,
    again: FinishedTransition | RunFault,
    candidate: Candidate,
) -> Compared:
    known = {
        action.id for transition in candidate.flow.definition.transitions for action in transition.actions
    }
    scenario = Scenario(
        state=execution.from_state,
        data=data,
        event=execution.event,
        event_data=execution.event_data,
        actor=execution.actor,
        results={key: value for key, value in _results(recorded, execution).items() if key in known},
    )
    after, found = candidate.ending(scenario)
    before = again.completion.data if isinstance(again, FinishedTransition) else data
    left = found.data if isinstance(found, Transitioned) else data
    return Compared(
        request_id=recorded.request.id,
        execution_id=execution.id,
        transition=execution.transition,
        before=_recorded_ending(execution, again),
        after=after,
        data_differs=canonical_json(before) != canonical_json(left),
        scenario=scenario,
        simulated=found,
    )


def _results(recorded: RecordedRuns, execution: Execution) -> Mapping[ActionKey, JsonObject]:
    checkpoints = recorded.checkpoints.get(execution.id, ())
    return {each.action: each.result for each in checkpoints if each.result is not None}


def _recorded_ending(execution: Execution, again: FinishedTransition | RunFault) -> Ending:
    if isinstance(again, RunFault):
        return Ending(error=execution.error_code, state=execution.from_state)
    done = again.completion
    decision, rules = _rules(again.detail["decision"])
    return Ending(outcome=str(done.result["outcome"]), state=done.state, decision=decision, rules=rules)


def _ending(found: Simulated, scenario: Scenario) -> Ending:
    match found:
        case NotAccepted(refusal=refusal):
            return Ending(error=refusal.code, state=scenario.state)
        case Stopped(fault=fault):
            return Ending(error=fault.code, state=scenario.state)
        case Transitioned() as done:
            decision, rules = _rules(done.trace["decision"])
            return Ending(outcome=done.outcome, state=done.state, decision=decision, rules=rules)
        case _ as unreachable:
            assert_never(unreachable)


def _rules(trace: JsonValue) -> tuple[str | None, tuple[str, ...]]:
    if not isinstance(trace, dict):
        return None, ()
    rules = trace["ruleIds"]
    assert isinstance(rules, list), "a decision's trace lists its rules"
    return str(trace["id"]), tuple(map(str, rules))


def _open_contracts(definition: FlowDefinition) -> dict[tuple[TransitionKey, ActionKey], ActionContract]:
    return {
        (transition.id, action.id): NO_OP_CONTRACT
        for transition in definition.transitions
        for action in transition.actions
    }
