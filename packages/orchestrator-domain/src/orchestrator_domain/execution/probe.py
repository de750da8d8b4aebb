"""What a status query about an action in doubt can come to, and what that means for its run. Pure.

A probe may confirm an effect and nothing else. That it finds nothing proves nothing, since the call may still be on its
way: it is a fact for an operator and never a licence to run again (protocol, Reconciliation).
"""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.attempt import ContractViolated, Succeeded
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.retry import probe_delay
from orchestrator_domain.execution.stepping import AskProbe
from orchestrator_domain.execution.verdict import held_to_contract
from orchestrator_domain.identifiers import ActionKey

CONFIRMED = "CONFIRMED"
NOT_FOUND = "NOT_FOUND"


@frozen(kw_only=True)
class Confirmed:
    """The provider knows the call under its key, and this is the result that its answer would have had."""

    result: JsonObject
    provider_reference: str | None = None


@frozen
class NotFound:
    """The provider doesn't know the key, or not yet."""


@frozen(kw_only=True)
class Inconclusive:
    """The query said nothing about the effect: no answer, a refusal, or one that its contract can't use."""

    error_code: str
    retry_after_seconds: float | None = None


type ProbeResult = Confirmed | NotFound | Inconclusive


@frozen(kw_only=True)
class EffectConfirmed:
    """The action has its result; `checkpoint` is to be stored together with the fact that a probe said so."""

    checkpoint: Checkpoint
    outcome: str = CONFIRMED


@frozen(kw_only=True)
class AskLater:
    """The action stays in doubt; ask again in `delay_seconds`."""

    delay_seconds: float
    outcome: str


@frozen(kw_only=True)
class CallHuman:
    """It was asked for as long as the contract asks, and nothing was confirmed."""

    outcome: str


type ProbeVerdict = EffectConfirmed | AskLater | CallHuman


def outcome_of_probe(result: ProbeResult) -> str:
    """Return CONFIRMED, NOT_FOUND or the stable code of what came in the way: for history, operators and metrics."""
    match result:
        case Confirmed():
            return CONFIRMED
        case NotFound():
            return NOT_FOUND
        case Inconclusive(error_code=code):
            return code
    assert_never(result)


def judge_probe(step: AskProbe, result: ProbeResult, *, fraction: float) -> ProbeVerdict:
    """Judge one answer; `fraction` in [0, 1) lengthens the wait before the next question.

    What is confirmed is held to the action's own output schema here, whoever wrote the handler: a result outside of it
    confirms nothing.
    """
    match result:
        case Confirmed(result=value, provider_reference=reference):
            found = Succeeded(result=value, provider_reference=reference)
            if isinstance(held_to_contract(step.contract, found), ContractViolated):
                return _later(step, Inconclusive(error_code="CONTRACT_VIOLATION"), fraction)
            kept = reference or step.doubted.provider_reference
            return EffectConfirmed(checkpoint=step.doubted.succeeded(value, kept))
        case NotFound() | Inconclusive():
            return _later(step, result, fraction)
    assert_never(result)


@frozen(kw_only=True)
class ProbesMade:
    """How often it was asked about an action of an execution, and what the last answer came to."""

    action: ActionKey
    asked: int
    outcome: str
    asked_at: datetime


def probes_made(told: Iterable[tuple[JsonObject | None, datetime]]) -> ProbesMade | None:
    """Return what an execution's history tells of its probes; `told` are details and moments, the oldest first.

    Details that were erased, and those of entries about something else, tell nothing.
    """
    made: ProbesMade | None = None
    for detail, moment in told:
        match detail:
            case {"action": str(action), "probe": str(outcome)}:
                asked = made.asked + 1 if made is not None and made.action == action else 1
                made = ProbesMade(action=ActionKey(action), asked=asked, outcome=outcome, asked_at=moment)
            case _:
                continue
    return made


def probe_detail(step: AskProbe, verdict: ProbeVerdict) -> JsonObject:
    """Return what the history keeps of a probe: which action, and what it said, never the answer itself."""
    action: JsonValue = step.definition.id
    return {"action": action, "probe": verdict.outcome}


def _later(step: AskProbe, result: NotFound | Inconclusive, fraction: float) -> ProbeVerdict:
    wanted = 0.0
    if isinstance(result, Inconclusive):
        wanted = min(result.retry_after_seconds or 0.0, step.contract.retry.retry_after_max_seconds)
    delay = probe_delay(
        step.probe,
        doubt_age_seconds=step.doubted.ended_age_seconds,
        fraction=fraction,
        retry_after_seconds=wanted,
    )
    outcome = outcome_of_probe(result)
    return CallHuman(outcome=outcome) if delay is None else AskLater(delay_seconds=delay, outcome=outcome)
