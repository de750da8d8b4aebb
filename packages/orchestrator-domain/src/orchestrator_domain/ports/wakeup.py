"""Hints that shorten a worker's wait; losing every one of them costs at most one poll."""

from typing import Protocol


class Wakeup(Protocol):
    """Pass a hint from who accepted an event to who may be waiting for one.

    Promises: `hint` never waits and never fails; `wait` returns at a hint or after `timeout_seconds`, whichever comes
    first, and never raises for a broken connection.
    """

    def hint(self) -> None: ...

    async def wait(self, *, timeout_seconds: float) -> None: ...
