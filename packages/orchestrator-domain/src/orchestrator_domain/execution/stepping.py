"""The core: from a definition and its checkpoints to the next step of a run. Pure.

The worker carries steps out and comes back; all that it knows is in the checkpoints, so a run that another worker
recovers takes exactly the same road (specification, section 8; protocol, Running actions).
"""

from collections.abc import Mapping

from attrs import field, frozen

from orchestrator_domain.decision.compiled import resolve_operand
from orchestrator_domain.decision.context import EvaluationContext, evaluation_context
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus, external_key
from orchestrator_domain.execution.completion import RunFault, results_by_key
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.execution.retry import attempts_left
from orchestrator_domain.flow.contract import ActionContract, Effect, ProbeContract
from orchestrator_domain.flow.definition import ActionDefinition, Transition
from orchestrator_domain.identifiers import ActionKey, Sha256Hex


@frozen(kw_only=True)
class Run:
    """All that a step is computed from.

    `request_data` is the snapshot that was accepted; `contracts` lacks the actions that the deployment can't serve.
    `own_results` are those of attempts that this very run has started and seen to succeed: the inputs in their checkpoints
    come from here, so they aren't computed a second time to be compared. A run that recovers another's has none at first.
    """

    execution: Execution
    request_data: JsonObject
    transition: Transition
    contracts: Mapping[ActionKey, ActionContract]
    checkpoints: Mapping[ActionKey, Checkpoint]
    own_results: Mapping[ActionKey, JsonObject] = field(factory=dict)


@frozen(kw_only=True)
class StartAction:
    """Make one attempt, after `start` has been stored in place of `before`."""

    definition: ActionDefinition
    contract: ActionContract
    inputs: JsonObject
    before: Checkpoint | None
    start: Checkpoint

    @property
    def checkpoint(self) -> Checkpoint:
        """Return what is stored while the attempt is made."""
        return self.start


@frozen(kw_only=True)
class AskProbe:
    """Ask whether an effect in doubt happened, after `doubted` has been stored in place of `before` if they differ.

    No attempt is made: what was asked under the action's key is looked for, and never asked for again.
    """

    definition: ActionDefinition
    contract: ActionContract
    probe: ProbeContract
    inputs: JsonObject
    before: Checkpoint
    doubted: Checkpoint

    @property
    def checkpoint(self) -> Checkpoint:
        """Return what is stored while the question is asked."""
        return self.doubted


@frozen(kw_only=True)
class FinishTransition:
    """Every action has its result; decide and complete."""

    context: EvaluationContext
    results: Mapping[ActionKey, JsonObject]


@frozen(kw_only=True)
class StopRun:
    """The run can't go on. `unsettled` is the checkpoint to store with the end, if it changes."""

    fault: RunFault
    action: ActionKey | None = None
    before: Checkpoint | None = None
    unsettled: Checkpoint | None = None


type Step = StartAction | AskProbe | FinishTransition | StopRun


def next_step(run: Run) -> Step:
    """Return the first action that has no result yet as a step, or the finish."""
    results: dict[ActionKey, JsonObject] = {}
    for action in run.transition.actions:
        if action.id in run.own_results:
            results[action.id] = run.own_results[action.id]
            continue
        context = _context(run, results)
        step = _action_step(run, action, context)
        if not isinstance(step, Checkpoint):
            return step
        assert step.result is not None, "a SUCCEEDED checkpoint holds its result"
        results[action.id] = step.result
    return FinishTransition(context=_context(run, results), results=results)


def may_have_written(checkpoints: Mapping[ActionKey, Checkpoint]) -> bool:
    """Say whether some action has written, or may have: then a failure never ends in FAILED."""
    return any(
        checkpoint.effect is not Effect.READ_ONLY
        and (
            checkpoint.uncertain
            or checkpoint.status
            in (CheckpointStatus.SUCCEEDED, CheckpointStatus.RUNNING, CheckpointStatus.UNKNOWN)
        )
        for checkpoint in checkpoints.values()
    )


def may_be_probed(contract: ActionContract, checkpoint: Checkpoint) -> bool:
    """Say whether a status query can be asked about this end of an action: it may have written, and there is one."""
    return contract.probe is not None and checkpoint.status is CheckpointStatus.UNKNOWN


def effective_effect(checkpoint: Checkpoint, contract: ActionContract) -> Effect:
    """Return how a further attempt has to be treated.

    Once the provider may have forgotten the key of an uncertain attempt, its deduplication can't be relied on.
    """
    forgotten = (
        contract.key_memory_seconds is not None
        and checkpoint.first_attempt_age_seconds > contract.key_memory_seconds
    )
    if checkpoint.effect is Effect.IDEMPOTENT_WRITE and forgotten:
        return Effect.NON_IDEMPOTENT_WRITE
    return checkpoint.effect


def _context(run: Run, results: Mapping[ActionKey, JsonObject]) -> EvaluationContext:
    return evaluation_context(
        request_data=run.request_data,
        event_data=run.execution.event_data,
        actor=run.execution.actor,
        results=results_by_key(run.transition.actions, results),
    )


def _action_step(
    run: Run, action: ActionDefinition, context: EvaluationContext
) -> StartAction | AskProbe | StopRun | Checkpoint:
    contract = run.contracts.get(action.id)
    before = run.checkpoints.get(action.id)
    if contract is None:
        return _unavailable(action, before)
    inputs = _inputs(action, context)
    if isinstance(inputs, RunFault):
        return StopRun(fault=inputs, action=action.id)
    input_hash = Sha256Hex(sha256_hex(inputs))
    if before is None:
        return _first_attempt(run, action, contract, inputs, input_hash)
    if not _same_work(before, run, contract, input_hash):
        return _stopped(action, "CHECKPOINT_MISMATCH")
    if before.status is CheckpointStatus.SUCCEEDED:
        return before
    return _further_attempt(action, contract, inputs, before)


def _inputs(action: ActionDefinition, context: EvaluationContext) -> JsonObject | RunFault:
    inputs: JsonObject = {}
    for name, operand in action.inputs.items():
        value = resolve_operand(operand, context)
        if isinstance(value, Absent):
            return RunFault(code="EVALUATION_ERROR", detail={"action": action.id, "input": name})
        inputs[name] = value
    return inputs


def _first_attempt(
    run: Run, action: ActionDefinition, contract: ActionContract, inputs: JsonObject, input_hash: Sha256Hex
) -> StartAction | StopRun:
    violations = contract.input_validator.violations(inputs)
    if violations:
        places: list[JsonValue] = [violation.pointer for violation in violations]
        detail: JsonObject = {"action": action.id, "pointers": places}
        return StopRun(fault=RunFault(code="INPUT_CONTRACT_VIOLATION", detail=detail), action=action.id)
    start = Checkpoint(
        action=action.id,
        status=CheckpointStatus.RUNNING,
        attempts=1,
        external_key=external_key(run.execution.id, action.id),
        input_hash=input_hash,
        effect=contract.effect,
    )
    return StartAction(definition=action, contract=contract, inputs=inputs, before=None, start=start)


def _same_work(before: Checkpoint, run: Run, contract: ActionContract, input_hash: Sha256Hex) -> bool:
    return (
        before.input_hash == input_hash
        and before.external_key == external_key(run.execution.id, before.action)
        and before.effect is contract.effect
    )


def _further_attempt(
    action: ActionDefinition, contract: ActionContract, inputs: JsonObject, before: Checkpoint
) -> StartAction | AskProbe | StopRun:
    ended = _end_without_attempt(before, contract)
    if ended is None:
        known = before.interrupted() if before.status is CheckpointStatus.RUNNING else before
        start = known.started_again()
        return StartAction(definition=action, contract=contract, inputs=inputs, before=before, start=start)
    after, code = ended
    if contract.probe is None or not may_be_probed(contract, after):
        return _unsettled(action, before, after, code)
    return AskProbe(
        definition=action,
        contract=contract,
        probe=contract.probe,
        inputs=inputs,
        before=before,
        doubted=after,
    )


def _end_without_attempt(before: Checkpoint, contract: ActionContract) -> tuple[Checkpoint, str] | None:
    """Return how an action has ended that can't be tried again, and by which code; None if it can."""
    known = before.interrupted() if before.status is CheckpointStatus.RUNNING else before
    unsafe = effective_effect(before, contract) is Effect.NON_IDEMPOTENT_WRITE
    if known.status is CheckpointStatus.UNKNOWN or (known.uncertain and unsafe):
        return known.unknown(), "EFFECT_UNKNOWN"
    if known.status is CheckpointStatus.FAILED or not attempts_left(contract.retry, known.attempts):
        return known.failed(), known.error_code or "ATTEMPTS_EXHAUSTED"
    return None


def _unsettled(action: ActionDefinition, before: Checkpoint, after: Checkpoint, code: str) -> StopRun:
    fault = RunFault(code=code, detail={"action": action.id})
    return StopRun(fault=fault, action=action.id, before=before, unsettled=after)


def _unavailable(action: ActionDefinition, before: Checkpoint | None) -> StopRun:
    """Stop; an attempt that was under way is settled as far as it can be, so that nothing is left RUNNING."""
    if before is None or before.status is not CheckpointStatus.RUNNING:
        return _stopped(action, "INTEGRATION_UNAVAILABLE")
    known = before.interrupted().failed("INTEGRATION_UNAVAILABLE")
    return _unsettled(action, before, known, "INTEGRATION_UNAVAILABLE")


def _stopped(action: ActionDefinition, code: str) -> StopRun:
    return StopRun(fault=RunFault(code=code, detail={"action": action.id}), action=action.id)
