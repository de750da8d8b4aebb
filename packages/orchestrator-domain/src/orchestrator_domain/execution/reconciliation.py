"""What an operator may make of an execution that stopped before a human, and what becomes of it then. Pure.

Nothing sets a state by hand: a resolution says what was verified about one action, and the run goes on from there or is
closed as if the event had never been sent (specification, section 8.3; protocol, Reconciliation).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import assert_never

from attrs import evolve, frozen

from orchestrator_domain.errors import ExecutionNotResolvable, InvalidInput
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, check_exact
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.identifiers import (
    ActionKey,
    CorrelationId,
    ExecutionId,
    FencingToken,
    IdempotencyKey,
    Sha256Hex,
)

EVIDENCE_TEXT_CHARACTERS_MAX = 4000
EVIDENCE_REFERENCE_CHARACTERS_MAX = 200
CLOSED_CODE = "CLOSED_WITHOUT_TRANSITION"

# What stopped these is no action whose effect could be verified: running again would stop in the same place.
_ONLY_TO_BE_CLOSED = frozenset(
    {"CHECKPOINT_MISMATCH", "REQUEST_MOVED", "EVALUATION_ERROR", "INPUT_CONTRACT_VIOLATION"}
)


class ResolutionKind(StrEnum):
    RESUME_WITH_RESULT = "RESUME_WITH_RESULT"
    RESUME_EFFECT_ABSENT = "RESUME_EFFECT_ABSENT"
    CLOSE_WITHOUT_TRANSITION = "CLOSE_WITHOUT_TRANSITION"


@frozen(kw_only=True)
class ResumeWithResult:
    """The effect happened; `result` is what the provider would have answered."""

    result: JsonObject


@frozen
class ResumeEffectAbsent:
    """Verified that nothing happened: the action runs again, with the same key and a fresh budget."""


@frozen
class CloseWithoutTransition:
    """Absence or compensation of every effect is verified: the request is released as it was."""


type Way = ResumeWithResult | ResumeEffectAbsent | CloseWithoutTransition


@frozen(kw_only=True)
class Evidence:
    """How it was verified: in words, and by a reference into whatever keeps the proof."""

    text: str
    reference: str


@frozen(kw_only=True)
class ResolveCommand:
    """Resolve one execution; `action` is the one that stopped it, None where none did.

    `stop` is the token of the stop that was verified; None takes whichever stop is there when the command arrives.
    """

    execution_id: ExecutionId
    action: ActionKey | None
    way: Way
    evidence: Evidence
    key: IdempotencyKey
    stop: FencingToken | None = None
    correlation_id: CorrelationId | None = None


@frozen(kw_only=True)
class Stop:
    """Where an execution stands: the first action without a result, what is known of it, and the ways that it admits.

    `token` tells this stop from every other of the execution; None where it doesn't wait for a resolution.
    """

    action: ActionKey | None
    checkpoint: Checkpoint | None
    admits: tuple[ResolutionKind, ...]
    token: FencingToken | None = None


@frozen(kw_only=True)
class Resolved:
    """What a resolution makes of an execution; `checkpoint` replaces the stopped action's, None leaves all as they are."""

    execution: Execution
    checkpoint: Checkpoint | None = None


def resolution_kind(way: Way) -> ResolutionKind:
    match way:
        case ResumeWithResult():
            return ResolutionKind.RESUME_WITH_RESULT
        case ResumeEffectAbsent():
            return ResolutionKind.RESUME_EFFECT_ABSENT
        case CloseWithoutTransition():
            return ResolutionKind.CLOSE_WITHOUT_TRANSITION
    assert_never(way)


def resolution_hash(command: ResolveCommand) -> Sha256Hex:
    """Return the hash by which a repeated command is told from another one under the same key."""
    said: JsonObject = {
        "actionId": command.action,
        "resolution": resolution_kind(command.way).value,
        "evidence": {"text": command.evidence.text, "reference": command.evidence.reference},
        "result": given_result(command.way),
    }
    if command.stop is not None:
        # Left out, it leaves the hash of a command as it was before commands could name a stop.
        said["stop"] = command.stop
    return Sha256Hex(sha256_hex(said))


def given_result(way: Way) -> JsonObject | None:
    return way.result if isinstance(way, ResumeWithResult) else None


def find_stop(
    execution: Execution,
    actions: tuple[ActionKey, ...],
    checkpoints: Mapping[ActionKey, Checkpoint],
    *,
    as_accepted: bool,
) -> Stop:
    """Say where an execution stands; `actions` are its transition's, in order, none where its flow can't be read.

    `as_accepted` says that the request still is as the event found it: otherwise nothing could be resumed.
    """
    action = next((key for key in actions if not _succeeded(checkpoints.get(key))), None)
    if execution.error_code == "CHECKPOINT_MISMATCH":
        # Which checkpoint doesn't fit is in the history; none of them may be used or replaced.
        action = None
    checkpoint = None if action is None else checkpoints.get(action)
    return Stop(
        action=action,
        checkpoint=checkpoint,
        admits=_admitted(execution, action, checkpoint, as_accepted=as_accepted),
        token=_stop_token(execution),
    )


def decide_resolution(
    command: ResolveCommand, execution: Execution, stop: Stop, contract: ActionContract | None
) -> Resolved:
    """Decide what the command makes of the execution; `contract` is the pinned one of the action that stopped.

    Raises ExecutionNotResolvable when it doesn't wait, has stopped anew since, stands elsewhere or doesn't admit this
    way, and InvalidInput when the evidence is empty or too long, or the result breaks the output schema. Nothing is to
    be stored then.
    """
    _require_evidence(command.evidence)
    _require_admitted(command, execution, stop)
    match command.way:
        case CloseWithoutTransition():
            return Resolved(
                execution=evolve(execution, status=ExecutionStatus.FAILED, error_code=CLOSED_CODE)
            )
        case ResumeEffectAbsent():
            afresh = None if stop.checkpoint is None else _afresh(stop.checkpoint)
            return Resolved(execution=_resumed(execution), checkpoint=afresh)
        case ResumeWithResult(result=result):
            assert stop.checkpoint is not None, "only an action that was tried admits a result"
            _require_within_contract(result, contract)
            known = stop.checkpoint.succeeded(result, stop.checkpoint.provider_reference)
            return Resolved(execution=_resumed(execution), checkpoint=known)
    assert_never(command.way)


def _succeeded(checkpoint: Checkpoint | None) -> bool:
    return checkpoint is not None and checkpoint.status is CheckpointStatus.SUCCEEDED


def _stop_token(execution: Execution) -> FencingToken | None:
    """Return what no two stops share: each needs a claim of its own, which raises the token; no resolution touches it."""
    stopped = execution.status is ExecutionStatus.RECONCILIATION_REQUIRED
    return execution.fencing_token if stopped else None


def _admitted(
    execution: Execution, action: ActionKey | None, checkpoint: Checkpoint | None, *, as_accepted: bool
) -> tuple[ResolutionKind, ...]:
    if execution.status is not ExecutionStatus.RECONCILIATION_REQUIRED:
        return ()
    if action is None or not as_accepted or execution.error_code in _ONLY_TO_BE_CLOSED:
        return (ResolutionKind.CLOSE_WITHOUT_TRANSITION,)
    # What only reads has no effect that could be confirmed, and its answer is the provider's to give.
    confirmable = checkpoint is not None and checkpoint.effect is not Effect.READ_ONLY
    return tuple(kind for kind in ResolutionKind if confirmable or kind != ResolutionKind.RESUME_WITH_RESULT)


def _require_evidence(evidence: Evidence) -> None:
    for name, text, most in (
        ("text", evidence.text, EVIDENCE_TEXT_CHARACTERS_MAX),
        ("reference", evidence.reference, EVIDENCE_REFERENCE_CHARACTERS_MAX),
    ):
        if not text.strip() or len(text) > most:
            sentence = f"Say how it was verified in 1 to {most} characters."
            pointer = f"/evidence/{name}"
            raise InvalidInput(sentence, pointer=pointer, violations=[(pointer, sentence)])


def _require_admitted(command: ResolveCommand, execution: Execution, stop: Stop) -> None:
    if execution.status is not ExecutionStatus.RECONCILIATION_REQUIRED:
        raise ExecutionNotResolvable("This execution doesn't wait for a resolution.")
    _require_this_stop(command, stop)
    if command.action != stop.action:
        raise ExecutionNotResolvable(
            "This isn't the action that stopped the execution; read the execution again.", pointer="/actionId"
        )
    if resolution_kind(command.way) not in stop.admits:
        admitted = ", ".join(stop.admits)
        raise ExecutionNotResolvable(f"This stop admits only {admitted}.", pointer="/resolution")


def _require_this_stop(command: ResolveCommand, stop: Stop) -> None:
    """Refuse what was verified of another stop, even one at the same action."""
    if command.stop not in (None, stop.token):
        raise ExecutionNotResolvable(
            "The execution has stopped anew since; read it again, and verify this stop.", pointer="/stop"
        )


def _require_within_contract(result: JsonObject, contract: ActionContract | None) -> None:
    if contract is None:
        raise ExecutionNotResolvable(
            "This deployment lacks the action's contract, so the result can't be checked.", pointer="/result"
        )
    try:
        check_exact(result)
    except InexactJson as fault:
        place = f"/result{fault.pointer or ''}"
        raise InvalidInput(fault.message, pointer=place, violations=[(place, fault.message)]) from None
    violations = contract.output_validator.violations(result)
    if violations:
        raise InvalidInput(
            "The result doesn't satisfy the contract's output schema; see the violations.",
            pointer="/result" + violations[0].pointer,
            violations=[("/result" + violation.pointer, violation.message) for violation in violations],
        )


def _resumed(execution: Execution) -> Execution:
    return evolve(execution, status=ExecutionStatus.PENDING, error_code=None)


def _afresh(checkpoint: Checkpoint) -> Checkpoint:
    """Return the checkpoint as if it had never been tried: same key, input and effect, everything else forgotten."""
    return Checkpoint(
        action=checkpoint.action,
        status=CheckpointStatus.PENDING,
        attempts=0,
        external_key=checkpoint.external_key,
        input_hash=checkpoint.input_hash,
        effect=checkpoint.effect,
    )
