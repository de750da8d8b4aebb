"""A clock that moves when it is told to."""

from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH_OF_TESTS = datetime(2030, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """Tell the time of an in-memory store; an embedding host gives its own."""

    def now(self) -> datetime:
        """Return the present moment, with a time zone."""
        ...


class ManualClock(Clock):
    """Stand still until advanced; with `tick_seconds`, move on by that much after each reading."""

    def __init__(self, start: datetime = EPOCH_OF_TESTS, *, tick_seconds: float = 0.0) -> None:
        self._now = start
        self._tick = timedelta(seconds=tick_seconds)

    def now(self) -> datetime:
        moment = self._now
        self._now += self._tick
        return moment

    def advance(self, seconds: float) -> None:
        """Move on; the clock of a store never goes back, so raise ValueError if `seconds` is negative."""
        if seconds < 0:
            raise ValueError("A store's clock never goes back; advance it by zero or more seconds.")
        self._now += timedelta(seconds=seconds)
