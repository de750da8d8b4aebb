"""What one attempt's result means for its action and its run: the table of the protocol, as a pure function."""

from typing import assert_never

from attrs import field, frozen

from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue, check_exact, copied
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    Unavailable,
    UnclearRefusal,
)
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.retry import attempts_left, parked_delay, retry_delay
from orchestrator_domain.execution.stepping import StartAction, effective_effect, may_be_probed
from orchestrator_domain.flow.contract import ActionContract, Effect


@frozen(kw_only=True)
class GoOn:
    """The action has its result; take the next step."""

    checkpoint: Checkpoint


@frozen(kw_only=True)
class RetryLater:
    """Park the execution for `delay_seconds`."""

    checkpoint: Checkpoint
    delay_seconds: float
    error_code: str


@frozen(kw_only=True)
class GiveUp:
    """End the run: FAILED if nothing can have been written by any action, else for reconciliation.

    `detail` is for the history; it holds places, never values.
    """

    checkpoint: Checkpoint
    error_code: str
    detail: JsonObject = field(factory=dict)


@frozen(kw_only=True)
class InDoubt:
    """The action may have had its effect, and a probe can be asked before the run ends: take the next step.

    `error_code` and `detail` say what would end it, as GiveUp's do.
    """

    checkpoint: Checkpoint
    error_code: str
    detail: JsonObject = field(factory=dict)


type Verdict = GoOn | RetryLater | GiveUp | InDoubt


def judge(step: StartAction, result: ActionResult, *, fraction: float) -> Verdict:
    """Judge one attempt; `fraction` in [0, 1) jitters the wait before the next one.

    A success is held to the contract's output schema here, whoever wrote the handler.
    """
    verdict = _judged(step, result, fraction)
    if isinstance(verdict, GiveUp) and may_be_probed(step.contract, verdict.checkpoint):
        return InDoubt(checkpoint=verdict.checkpoint, error_code=verdict.error_code, detail=verdict.detail)
    return verdict


def _judged(step: StartAction, result: ActionResult, fraction: float) -> Verdict:
    running = step.start
    writes = running.effect is not Effect.READ_ONLY
    match held_to_contract(step.contract, result):
        case Succeeded(result=value, provider_reference=reference):
            # Whoever wrote the handler may keep what it answered, and change it.
            kept = {name: copied(member) for name, member in value.items()}
            return GoOn(checkpoint=running.succeeded(kept, reference))
        case ProvenUnsent(error_code=code):
            return _again(step, running.to_be_retried(code, uncertain=False), code, fraction)
        case Parked(error_code=code, retry_after_seconds=seconds):
            return _parked(step, code, seconds, fraction)
        case NoWholeAnswer(error_code=code):
            return _again_if_safe(step, running.to_be_retried(code, uncertain=writes), code, fraction)
        case Transient(error_code=code, retry_after_seconds=seconds, proves_no_effect=proven):
            waiting = running.to_be_retried(code, uncertain=writes and not proven)
            return _again_if_safe(step, waiting, code, fraction, retry_after_seconds=seconds)
        case Refused(error_code=code) | Unavailable(error_code=code):
            return GiveUp(checkpoint=running.failed(code), error_code=code)
        case UnclearRefusal(error_code=code):
            return GiveUp(checkpoint=_ended(running, code), error_code=code)
        case ContractViolated(error_code=code, places=places):
            pointers: list[JsonValue] = [pointer for pointer, _ in places]
            return GiveUp(checkpoint=_ended(running, code), error_code=code, detail={"pointers": pointers})
        case _ as unreachable:
            assert_never(unreachable)


def held_to_contract(contract: ActionContract, result: ActionResult) -> ActionResult:
    """Return the result, or a violation in place of a success that breaks the contract's output schema."""
    if not isinstance(result, Succeeded):
        return result
    try:
        check_exact(result.result)
    except InexactJson as fault:
        return ContractViolated(places=((fault.pointer or "", fault.message),))
    violations = contract.output_validator.violations(result.result)
    if not violations:
        return result
    return ContractViolated(places=tuple((violation.pointer, violation.message) for violation in violations))


def _ended(running: Checkpoint, code: str) -> Checkpoint:
    return running.failed(code) if running.effect is Effect.READ_ONLY else running.unknown(code)


def _parked(step: StartAction, code: str, seconds: float, fraction: float) -> Verdict:
    """Wait without counting an attempt; once the first one is too long ago, count it like one that wasn't sent."""
    running, retry = step.start, step.contract.retry
    age = running.first_attempt_age_seconds
    if age < retry.parked_seconds_max:
        delay = parked_delay(retry, seconds=seconds, first_start_age_seconds=age, fraction=fraction)
        return RetryLater(checkpoint=running.parked(code), delay_seconds=delay, error_code=code)
    waiting = running.to_be_retried(code, uncertain=False)
    return _again(step, waiting, code, fraction, retry_after_seconds=seconds)


def _again_if_safe(
    step: StartAction,
    waiting: Checkpoint,
    code: str,
    fraction: float,
    *,
    retry_after_seconds: float | None = None,
) -> Verdict:
    unsafe = effective_effect(step.start, step.contract) is Effect.NON_IDEMPOTENT_WRITE
    if unsafe and waiting.uncertain:
        return GiveUp(checkpoint=waiting.unknown(code), error_code=code)
    return _again(step, waiting, code, fraction, retry_after_seconds=retry_after_seconds)


def _again(
    step: StartAction,
    waiting: Checkpoint,
    code: str,
    fraction: float,
    *,
    retry_after_seconds: float | None = None,
) -> Verdict:
    if not attempts_left(step.contract.retry, waiting.attempts):
        return GiveUp(checkpoint=waiting.failed(code), error_code=code)
    delay = retry_delay(
        step.contract.retry,
        attempts=waiting.attempts,
        fraction=fraction,
        retry_after_seconds=retry_after_seconds,
    )
    return RetryLater(checkpoint=waiting, delay_seconds=delay, error_code=code)
