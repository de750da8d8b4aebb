"""What an answer means for an action (the table of outcomes in the protocol, and the contract's own words)."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    UnclearRefusal,
)
from orchestrator_worker.normalisation import named_members
from orchestrator_worker.provider_answer import (
    Answer,
    CallOutcome,
    HeldBack,
    Json,
    NoAnswer,
    NoJson,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)
from orchestrator_worker.retry_after import retry_after_seconds
from orchestrator_worker.route import (
    Always,
    AnswerMeaning,
    AnswerSource,
    FromAnswer,
    NoEffectAnswer,
    ResultAnswer,
    RetryableAnswer,
    Route,
)

UNAUTHENTICATED: Final = frozenset({401, 403})
TRANSIENT: Final = frozenset({408, 425, 429, 502, 503, 504})
_REFUSED: Final = frozenset({400, 404, 405, 413, 415, 422})
_REFERENCE_CHARACTERS_MAX: Final = 200


def result_of(outcome: CallOutcome, route: Route, *, now: datetime) -> ActionResult:
    """Judge one call by the route's contract; `now` is what a Retry-After date is compared with."""
    match outcome:
        case NotConnected(address_refused=True):
            return ProvenUnsent(error_code="PROVIDER_ADDRESS_REFUSED")
        case NotConnected():
            return ProvenUnsent()
        case HeldBack(reason=reason, retry_after_seconds=seconds):
            return Parked(error_code=reason.value, retry_after_seconds=seconds)
        case NotSignedIn():
            return Refused(error_code="PROVIDER_AUTHENTICATION")
        case NoAnswer():
            return NoWholeAnswer()
        case NotConfigured():
            # A secret or certificate that rotates may be missing for a moment, so it is worth another attempt.
            return ProvenUnsent(error_code="INTEGRATION_UNAVAILABLE")
        case Answer():
            return _judged(outcome, route, now)


def _judged(answer: Answer, route: Route, now: datetime) -> ActionResult:
    if answer.status in UNAUTHENTICATED:
        return Refused(error_code="PROVIDER_AUTHENTICATION")
    match route.answers.get(answer.status) or _usual_meaning(answer.status):
        case ResultAnswer() as meaning:
            return _result(answer, meaning, route)
        case NoEffectAnswer():
            return Refused()
        case RetryableAnswer() as meaning:
            return Transient(
                retry_after_seconds=retry_after_seconds(answer.headers.get("retry-after"), now=now),
                proves_no_effect=meaning.proves_no_effect,
            )
        case None:
            return UnclearRefusal()


def _usual_meaning(status: int) -> AnswerMeaning | None:
    if 200 <= status < 300:
        return ResultAnswer()
    if status in TRANSIENT:
        return RetryableAnswer()
    return NoEffectAnswer() if status in _REFUSED else None


def _result(answer: Answer, meaning: ResultAnswer, route: Route) -> ActionResult:
    if isinstance(answer.body, NoJson):
        if meaning.reads_body:
            return ContractViolated(places=(("", answer.body.fault),))
        content: JsonValue | Absent = ABSENT
    else:
        content = answer.body.value
    normalised = _normalised(content, meaning, route)
    violations = route.output.violations(normalised)
    if violations or not isinstance(normalised, dict):
        return ContractViolated(places=tuple((found.pointer, found.message) for found in violations))
    return Succeeded(result=normalised, provider_reference=reference_in(answer, route.provider_reference))


def _normalised(content: JsonValue | Absent, meaning: ResultAnswer, route: Route) -> JsonValue:
    if meaning.fields is not None:
        return mapped(content, meaning.fields.items())
    return None if isinstance(content, Absent) else named_members(content, route.output_schema)


def mapped(content: JsonValue | Absent, fields: Iterable[tuple[str, AnswerSource]]) -> JsonObject:
    """Return a result member by member; one whose source is absent is left out."""
    found = {name: _value(source, content) for name, source in fields}
    return {name: value for name, value in found.items() if not isinstance(value, Absent)}


def _value(source: AnswerSource, content: JsonValue | Absent) -> JsonValue | Absent:
    match source:
        case Always():
            return source.value
        case FromAnswer():
            return ABSENT if isinstance(content, Absent) else source.pointer.resolve(content)


def reference_in(answer: Answer, place: Pointer | None) -> str | None:
    """Return the provider's own id of a call, None if the answer has none that can be kept."""
    if place is None or not isinstance(answer.body, Json):
        return None
    found = place.resolve(answer.body.value)
    return found if isinstance(found, str) and len(found) <= _REFERENCE_CHARACTERS_MAX else None
