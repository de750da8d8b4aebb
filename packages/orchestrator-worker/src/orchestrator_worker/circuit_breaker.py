"""A circuit breaker: after so many failures in a row nothing is tried for a while, and then one call at a time."""

from collections.abc import Callable
from enum import StrEnum

from attrs import field, frozen, validators

PROBE_WAIT_SECONDS = 5.0
"""How long to stay away while one call finds out whether the endpoint is back."""


@frozen(kw_only=True)
class CircuitSettings:
    """When a circuit opens and for how long; the time doubles with each probe that fails, up to its maximum."""

    failures_to_open: int = field(default=10, validator=validators.ge(1))
    open_seconds: float = field(default=30.0, validator=validators.gt(0))
    open_seconds_max: float = field(default=300.0, validator=validators.gt(0))


class CircuitState(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    PROBING = "probing"


@frozen(kw_only=True)
class Admitted:
    """The call may be made; `round` tells whether the circuit has moved on since."""

    round: int


@frozen(kw_only=True)
class KeptAway:
    """The call isn't worth making before `seconds` have passed."""

    seconds: float


@frozen(kw_only=True)
class _Closed:
    failures: int = 0


@frozen(kw_only=True)
class _Open:
    until: float
    seconds: float


@frozen(kw_only=True)
class _Probing:
    seconds: float


class CircuitBreaker:
    """Admit calls and learn from how they went; `clock` is monotonic, in seconds."""

    def __init__(self, settings: CircuitSettings, *, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._clock = clock
        self._state: _Closed | _Open | _Probing = _Closed()
        self._round = 0

    @property
    def state(self) -> CircuitState:
        match self._state:
            case _Closed():
                return CircuitState.CLOSED
            case _Open():
                return CircuitState.OPEN
            case _Probing():
                return CircuitState.PROBING

    def admit(self) -> Admitted | KeptAway:
        """Say whether a call may be made now; whoever is admitted tells its end by exactly one of the three below."""
        match self._state:
            case _Open(until=until, seconds=seconds) if until <= self._clock():
                self._move(_Probing(seconds=seconds))
            case _Open(until=until):
                return KeptAway(seconds=until - self._clock())
            case _Probing():
                return KeptAway(seconds=PROBE_WAIT_SECONDS)
            case _Closed():
                pass
        return Admitted(round=self._round)

    def keeps_away(self) -> KeptAway | None:
        """Say whether `admit` would keep a call away now, without taking the place of the one that finds out."""
        match self._state:
            case _Open(until=until) if until > self._clock():
                return KeptAway(seconds=until - self._clock())
            case _Probing():
                return KeptAway(seconds=PROBE_WAIT_SECONDS)
            case _Open() | _Closed():
                return None

    def succeeded(self, admitted: Admitted) -> None:
        """Forget the failures: the endpoint answers."""
        if admitted.round == self._round:
            self._state = _Closed()

    def failed(self, admitted: Admitted) -> None:
        """Count a failure; what began before the circuit moved on says nothing any more."""
        if admitted.round != self._round:
            return
        match self._state:
            case _Closed(failures=failures) if failures + 1 < self._settings.failures_to_open:
                self._state = _Closed(failures=failures + 1)
            case _Probing(seconds=seconds):
                self._open_for(min(seconds * 2, self._settings.open_seconds_max))
            case _Closed() | _Open():
                self._open_for(self._settings.open_seconds)

    def left(self, admitted: Admitted) -> None:
        """Note that the call came to nothing that says how the endpoint is; the next one may find out."""
        if admitted.round == self._round and isinstance(self._state, _Probing):
            self._move(_Open(until=self._clock(), seconds=self._state.seconds))

    def _open_for(self, seconds: float) -> None:
        self._move(_Open(until=self._clock() + seconds, seconds=seconds))

    def _move(self, state: _Open | _Probing) -> None:
        self._state = state
        self._round += 1
