"""What really happened to a request, and whether it happens again: decisions, hashes and the chain of its history."""

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve, field, frozen

from orchestrator_domain.audit import AuditEntry, AuditKind, ChainBreak, verify_chain
from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import (
    Evaluate,
    FinishedTransition,
    RunFault,
    finished_transition,
)
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.stepping import FinishTransition, Run, StopRun, next_step
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import Transition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId, Sha256Hex
from orchestrator_domain.request.erasure import PersonalData, parts_erased
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_domain.simulation.no_op import NO_OP_CONTRACT

FAULTS_OF_RULES: Final = ("EVALUATION_ERROR", "AMBIGUOUS_DECISION", "DATA_SCHEMA_VIOLATION")
"""The ends of a run that its rules and data alone lead to."""


@frozen(kw_only=True)
class RecordedRequest(RecordedRuns):
    """A request's runs with the entries of its history; `head` is the end of their chain."""

    head: Sha256Hex
    entries: tuple[AuditEntry, ...]

    @property
    def erased(self) -> frozenset[PersonalData]:
        """Return what the history says was erased."""
        return parts_erased(self.entries)


@frozen(kw_only=True)
class Disagreement:
    """One thing that doesn't come out as it was recorded; `about` names it, without values."""

    about: str
    execution_id: ExecutionId | None = None


@frozen(kw_only=True)
class Verification:
    """What was found of one request.

    `verified` decisions came out as recorded, rule ids, output and inputs' hashes alike. `erased` ones came out in the
    recorded state with the recorded result, but their recorded detail is erased, so that no more can be said; or the
    data that they rest on is erased, and nothing can be said but that chain and state agree. `parts_erased` are those
    that the history tells of.
    """

    request_id: RequestId
    verified: int = 0
    erased: int = 0
    parts_erased: frozenset[PersonalData] = frozenset()
    broken: ChainBreak | None = None
    disagreements: tuple[Disagreement, ...] = field(default=())

    @property
    def holds(self) -> bool:
        return self.broken is None and not self.disagreements


def verified(recorded: RecordedRequest, flow: ReadyFlow, *, evaluate: Evaluate) -> Verification:
    """Replay the recorded decisions of a request by its pinned flow, and check the chain of its entries."""
    replay = _Replay(recorded=recorded, flow=flow, evaluate=evaluate)
    found = Verification(
        request_id=recorded.request.id,
        broken=verify_chain(recorded.entries, stored_head=recorded.head),
        parts_erased=recorded.erased,
    )
    if not recorded.replayable:
        return _as_far_as_it_is_left(recorded, flow, found)
    data, state = recorded.initial_data, flow.definition.initial_state
    for execution in sorted(recorded.executions, key=lambda each: each.accepted_revision):
        if not _is_decided(execution):
            continue
        again = replay.ended(execution, data)
        about = replay.disagreement(execution, again)
        if about is not None:
            return _with(found, Disagreement(about=about, execution_id=execution.id))
        erased = replay.entry_of(execution).detail is None
        found = evolve(found, verified=found.verified + (not erased), erased=found.erased + erased)
        if isinstance(again, FinishedTransition):
            data, state = again.completion.data, again.completion.state
    if state != recorded.request.state:
        return _with(found, Disagreement(about="The state isn't the one that the recorded events lead to."))
    if canonical_json(data) != canonical_json(recorded.request.data):
        return _with(found, Disagreement(about="The data isn't what the recorded events lead to."))
    return found


def _as_far_as_it_is_left(recorded: RecordedRequest, flow: ReadyFlow, found: Verification) -> Verification:
    """Hold the state against the history's own entries, which outlive the data."""
    moves = [entry.to_state for entry in recorded.entries if entry.kind is AuditKind.TRANSITION_COMPLETED]
    if recorded.request.state != (moves[-1] if moves else flow.definition.initial_state):
        return _with(found, Disagreement(about="The state isn't the one that the recorded events lead to."))
    return evolve(found, erased=sum(map(_is_decided, recorded.executions)))


def _with(found: Verification, disagreement: Disagreement) -> Verification:
    return evolve(found, disagreements=(*found.disagreements, disagreement))


def _is_decided(execution: Execution) -> bool:
    return execution.status is ExecutionStatus.SUCCEEDED or execution.error_code in FAULTS_OF_RULES


@frozen(kw_only=True)
class _Replay:
    recorded: RecordedRequest
    flow: ReadyFlow
    evaluate: Evaluate

    def ended(self, execution: Execution, data: JsonObject) -> FinishedTransition | RunFault:
        """Take the execution to its end again, from the results that its checkpoints hold."""
        transition = self.flow.definition.transition(execution.transition)
        if transition is None:
            return RunFault(code="TRANSITION_MISSING")
        return replayed_end(
            execution,
            data,
            flow=self.flow,
            transition=transition,
            checkpoints=self.recorded.checkpoints.get(execution.id, ()),
            evaluate=self.evaluate,
        )

    def entry_of(self, execution: Execution) -> AuditEntry:
        return next(self._entries_of(execution))

    def disagreement(self, execution: Execution, again: FinishedTransition | RunFault) -> str | None:
        """Say what differs from the record, or None."""
        entry = next(self._entries_of(execution), None)
        if entry is None:
            return "The history has no entry of this execution's end."
        if isinstance(again, RunFault):
            return self._differing_fault(execution, entry, again)
        done = again.completion
        if execution.status is not ExecutionStatus.SUCCEEDED:
            return "The run failed, and would complete its transition now."
        if entry.to_state != done.state or not _are_equal(execution.result, done.result):
            return "The transition ended in another state or outcome than it would now."
        if entry.detail is not None and not _are_equal(entry.detail, again.detail):
            return "The decision recorded another output or other rules than it would now."
        return None

    def _differing_fault(self, execution: Execution, entry: AuditEntry, again: RunFault) -> str | None:
        if execution.error_code != again.code:
            return f"The run would end in {again.code} now."
        if entry.detail is not None and not _are_equal(
            entry.detail, {"errorCode": again.code, **again.detail}
        ):
            return "The run failed at another place than it would now."
        return None

    def _entries_of(self, execution: Execution) -> Iterator[AuditEntry]:
        """Give the entries of the execution's end, the last one first."""
        succeeded = execution.status is ExecutionStatus.SUCCEEDED
        kinds = (
            (AuditKind.TRANSITION_COMPLETED,)
            if succeeded
            else (AuditKind.EXECUTION_FAILED, AuditKind.RECONCILIATION_REQUIRED)
        )
        for entry in reversed(self.recorded.entries):
            if entry.execution_id == execution.id and entry.kind in kinds:
                yield entry


def replayed_end(
    execution: Execution,
    data: JsonObject,
    *,
    flow: ReadyFlow,
    transition: Transition,
    checkpoints: tuple[Checkpoint, ...],
    evaluate: Evaluate,
) -> FinishedTransition | RunFault:
    """Finish a recorded execution on a snapshot, calling nothing.

    Inputs are resolved anew and held to the recorded hash of each action (CHECKPOINT_MISMATCH); an action without a
    recorded result is RESULT_MISSING.
    """
    known = {each.action: each for each in checkpoints if each.status is CheckpointStatus.SUCCEEDED}
    contracts = _open_contracts(transition, known)
    run = Run(
        execution=execution,
        request_data=data,
        transition=transition,
        contracts=contracts,
        checkpoints=known,
    )
    if any(each.result is None for each in known.values()):
        return RunFault(code="RESULT_MISSING")
    match next_step(run):
        case FinishTransition(context=context, results=results):
            return finished_transition(
                flow=flow,
                transition=transition,
                context=context,
                results=results,
                contracts=contracts,
                evaluate=evaluate,
                limits=FlowLimits(),
            )
        case StopRun(fault=fault):
            return fault
        case step:
            return RunFault(code="RESULT_MISSING", detail={"action": step.definition.id})


def _open_contracts(
    transition: Transition, known: Mapping[ActionKey, Checkpoint]
) -> dict[ActionKey, ActionContract]:
    """Return contracts that judge nothing: what was recorded has been judged when it happened."""
    return {
        action.id: evolve(NO_OP_CONTRACT, effect=known[action.id].effect)
        if action.id in known
        else NO_OP_CONTRACT
        for action in transition.actions
    }


def _are_equal(left: JsonValue, right: JsonValue) -> bool:
    return canonical_json(left) == canonical_json(right)
