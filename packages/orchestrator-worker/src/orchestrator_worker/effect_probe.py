"""Ask a provider's status query about a call in doubt, and take from its answer what the contract allows."""

from datetime import datetime
from typing import assert_never

from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue
from orchestrator_domain.execution.probe import Confirmed, Inconclusive, NotFound, ProbeResult
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_worker.answer_meaning import TRANSIENT, UNAUTHENTICATED, mapped, reference_in
from orchestrator_worker.provider_answer import (
    Answer,
    CallOutcome,
    HeldBack,
    Json,
    NoAnswer,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)
from orchestrator_worker.provider_request import ProviderRequest, target_of, tracing_headers_of
from orchestrator_worker.retry_after import retry_after_seconds
from orchestrator_worker.route import ConfirmingAnswer, NotFoundAnswer, ProbeRoute, Route


def probe_request(route: Route, probe: ProbeRoute, context: ActionContext) -> ProviderRequest:
    """Return the status query; raise UnsendableInput for an input that can't be put into it.

    It carries the key where the contract says and not as Idempotency-Key: it is no repetition of the call.
    """
    return ProviderRequest(
        endpoint=route.endpoint,
        method=probe.request.method,
        target=target_of(probe.request, context),
        headers=tracing_headers_of(context),
        timeouts=route.timeouts,
        answer_bytes_max=route.answer_bytes_max,
        limit=route.limit,
    )


def probe_result_of(
    outcome: CallOutcome, route: Route, probe: ProbeRoute, *, key: str, now: datetime
) -> ProbeResult:
    """Judge one query. Only an answer that its contract takes for a confirmation confirms; silence says nothing."""
    match outcome:
        case NotConnected(address_refused=True):
            return Inconclusive(error_code="PROVIDER_ADDRESS_REFUSED")
        case NotConnected():
            return Inconclusive(error_code="PROVIDER_UNREACHABLE")
        case HeldBack(reason=reason, retry_after_seconds=seconds):
            return Inconclusive(error_code=reason.value, retry_after_seconds=seconds)
        case NotSignedIn():
            return Inconclusive(error_code="PROVIDER_AUTHENTICATION")
        case NoAnswer():
            return Inconclusive(error_code="PROVIDER_TIMEOUT")
        case NotConfigured():
            return Inconclusive(error_code="INTEGRATION_UNAVAILABLE")
        case Answer():
            return _judged(outcome, route, probe, key, now)
        case _ as unreachable:
            assert_never(unreachable)


def _judged(answer: Answer, route: Route, probe: ProbeRoute, key: str, now: datetime) -> ProbeResult:
    match probe.answers.get(answer.status):
        case NotFoundAnswer():
            return NotFound()
        case ConfirmingAnswer() as meaning:
            return _confirmed(answer, meaning, route, probe, key)
        case None:
            pass
    if answer.status in UNAUTHENTICATED:
        return Inconclusive(error_code="PROVIDER_AUTHENTICATION")
    if answer.status in TRANSIENT:
        wanted = retry_after_seconds(answer.headers.get("retry-after"), now=now)
        return Inconclusive(error_code="PROVIDER_UNAVAILABLE", retry_after_seconds=wanted)
    return Inconclusive(error_code="PROVIDER_REJECTED")


def _confirmed(
    answer: Answer, meaning: ConfirmingAnswer, route: Route, probe: ProbeRoute, key: str
) -> ProbeResult:
    if not isinstance(answer.body, Json):
        return Inconclusive(error_code="CONTRACT_VIOLATION")
    content = answer.body.value
    if probe.key_echo is not None and not _is_key(probe.key_echo.resolve(content), key):
        return Inconclusive(error_code="PROBE_KEY_MISMATCH")
    result = mapped(content, meaning.fields.items())
    if route.output.violations(result):
        # As while the provider is still at it, and its status is none that the action could have ended with.
        return Inconclusive(error_code="CONTRACT_VIOLATION")
    return Confirmed(result=result, provider_reference=reference_in(answer, probe.provider_reference))


def _is_key(found: JsonValue | Absent, key: str) -> bool:
    return found is not ABSENT and isinstance(found, str) and found == key
