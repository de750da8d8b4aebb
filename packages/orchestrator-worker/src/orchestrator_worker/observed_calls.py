"""Calls to providers, told to whoever measures them: which endpoint, what came of it, and how long it took."""

from collections.abc import Callable
from time import monotonic
from typing import assert_never

from attrs import frozen

from orchestrator_worker.invoke_integration import Caller
from orchestrator_worker.provider_answer import (
    Answer,
    CallOutcome,
    HeldBack,
    NoAnswer,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)
from orchestrator_worker.provider_request import ProviderRequest

type CallTold = Callable[[str, str, float], None]
"""Hear the endpoint's name, the answer's, and the seconds; return at once and raise nothing."""


@frozen(kw_only=True)
class ObservedCalls(Caller):
    """Make calls and tell of each."""

    calls: Caller
    told: CallTold
    clock: Callable[[], float] = monotonic

    async def call(self, request: ProviderRequest) -> CallOutcome:
        began_at = self.clock()
        outcome = await self.calls.call(request)
        self.told(request.endpoint.name, answer_name(outcome), self.clock() - began_at)
        return outcome


def answer_name(outcome: CallOutcome) -> str:
    """Return the status of an answer, or one word for what came instead of one."""
    match outcome:
        case Answer(status=status):
            return str(status) if 100 <= status < 600 else "other"
        case NotConnected():
            return "not_connected"
        case NoAnswer():
            return "no_answer"
        case NotConfigured():
            return "not_configured"
        case NotSignedIn():
            return "not_signed_in"
        case HeldBack(reason=reason):
            return reason.value.lower()
        case _ as unreachable:
            assert_never(unreachable)
