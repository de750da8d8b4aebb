"""Wait for something that somebody else brings about: looking ever less often, and never for ever."""

import time
from collections.abc import Callable

from attrs import frozen

FIRST_PAUSE_SECONDS = 0.03
LONGEST_PAUSE_SECONDS = 0.5


class TooLate(Exception):
    """What was waited for didn't come in time."""


@frozen(kw_only=True)
class Patience:
    """How long to wait; `check` is called before each look, and may raise when waiting has become useless."""

    seconds: float
    check: Callable[[], None]

    def until[T](self, what: str, look: Callable[[], T | None]) -> T:
        """Return the first thing that a look finds; raise TooLate when the time is over."""
        deadline = time.monotonic() + self.seconds
        pause = FIRST_PAUSE_SECONDS
        while True:
            self.check()
            found = look()
            if found is not None:
                return found
            if time.monotonic() + pause > deadline:
                raise TooLate(f"{what} didn't come about in {self.seconds:.0f} seconds.")
            time.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
