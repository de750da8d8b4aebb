"""Waiting for what other processes do: a bounded number of looks, with a small pause between two of them."""

from collections.abc import Callable
from time import sleep

LOOKS_MAX = 1200
PAUSE_SECONDS = 0.025


def wait_until[T](what: str, look: Callable[[], T | None]) -> T:
    """Return the first thing that a look finds (neither None nor False); fail after LOOKS_MAX of them."""
    for _ in range(LOOKS_MAX):
        found = look()
        if found is not None and found is not False:
            return found
        sleep(PAUSE_SECONDS)
    raise AssertionError(f"This did not come about within {LOOKS_MAX} looks: {what}.")
