"""What one attempt of an action can come to; handlers answer with one of these, never with an exception."""

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject


@frozen(kw_only=True)
class Succeeded:
    """The provider answered within its contract; `result` satisfies the output schema."""

    result: JsonObject
    provider_reference: str | None = None


@frozen(kw_only=True)
class ProvenUnsent:
    """No byte of the call left, so no effect is possible (could not connect)."""

    error_code: str = "PROVIDER_UNREACHABLE"


@frozen(kw_only=True)
class Parked:
    """Nothing was tried, because trying now would help nobody (open circuit breaker, integration at its limit).

    No attempt is counted for it, for as long as the contract's `parked_seconds_max` allows.
    """

    error_code: str = "CIRCUIT_OPEN"
    retry_after_seconds: float


@frozen(kw_only=True)
class NoWholeAnswer:
    """The call may have arrived, but no whole answer came back (timeout, reset, cut, crash)."""

    error_code: str = "PROVIDER_TIMEOUT"


@frozen(kw_only=True)
class Transient:
    """The provider asked to come back later; `proves_no_effect` only if its contract says so of this status."""

    error_code: str = "PROVIDER_UNAVAILABLE"
    retry_after_seconds: float | None = None
    proves_no_effect: bool = False


@frozen(kw_only=True)
class Refused:
    """The provider refused before doing anything: this attempt had no effect, and another one would end alike."""

    error_code: str = "PROVIDER_REJECTED"


@frozen(kw_only=True)
class UnclearRefusal:
    """An answer that is neither success nor a refusal known to come before any effect (3xx, other 4xx and 5xx)."""

    error_code: str = "PROVIDER_REJECTED"


@frozen(kw_only=True)
class ContractViolated:
    """A success that breaks the output contract (schema, size, not JSON): the effect is there, its result isn't.

    `places` are JSON Pointers and sentences without values.
    """

    error_code: str = "CONTRACT_VIOLATION"
    places: tuple[tuple[str, str], ...] = ()


@frozen(kw_only=True)
class Unavailable:
    """Nothing could be called: no contract or route is configured for the action."""

    error_code: str = "INTEGRATION_UNAVAILABLE"


type ActionResult = (
    Succeeded
    | ProvenUnsent
    | Parked
    | NoWholeAnswer
    | Transient
    | Refused
    | UnclearRefusal
    | ContractViolated
    | Unavailable
)
