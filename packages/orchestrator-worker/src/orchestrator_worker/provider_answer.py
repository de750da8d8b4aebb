"""What one call came to, as far as HTTP can tell."""

from collections.abc import Mapping
from enum import StrEnum

from attrs import field, frozen

from orchestrator_domain.exact_json.value import JsonValue


class BodyFault(StrEnum):
    """Why a whole answer's body is no usable JSON."""

    EMPTY = "The answer has no body."
    MALFORMED = "The answer isn't JSON that can be taken."
    TOO_LARGE = "The answer is larger than the contract allows."
    UNKNOWN_ENCODING = "The answer's encoding isn't one that was offered."


@frozen(kw_only=True)
class Json:
    """The body's exact value."""

    value: JsonValue


@frozen(kw_only=True)
class NoJson:
    fault: BodyFault


type Body = Json | NoJson


@frozen(kw_only=True)
class NotConnected:
    """No byte of the request left this process; `address_refused` if its address is none that may be called."""

    address_refused: bool = False


@frozen(kw_only=True)
class NoAnswer:
    """Some of the request may have left, and no whole answer came back."""


@frozen(kw_only=True)
class NotConfigured:
    """The endpoint's address or secret can't be had at present; nothing was tried."""


@frozen(kw_only=True)
class NotSignedIn:
    """The authorization server refused to hand out a token; nothing of the call has left."""


BUSY_WAIT_SECONDS = 5.0
"""How long what found no free place or connection stays away."""


class HoldReason(StrEnum):
    """Why a call wasn't worth making."""

    CIRCUIT_OPEN = "CIRCUIT_OPEN"
    BUSY = "INTEGRATION_BUSY"


@frozen(kw_only=True)
class HeldBack:
    """The call wasn't worth making now; nothing of it has left."""

    reason: HoldReason
    retry_after_seconds: float


@frozen(kw_only=True)
class Answer:
    """A whole answer. Header names are in lower case."""

    status: int
    headers: Mapping[str, str] = field(factory=dict)
    body: Body


type CallOutcome = NotConnected | NoAnswer | NotConfigured | NotSignedIn | HeldBack | Answer
