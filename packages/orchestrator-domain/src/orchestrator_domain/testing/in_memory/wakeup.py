"""Hints inside one process, without an event loop of their own."""

from collections.abc import Awaitable, Callable, Generator
from datetime import timedelta

from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_domain.testing.manual_clock import Clock


class Pause(Awaitable[None]):
    """Let whatever drives this coroutine run something else once."""

    def __await__(self) -> Generator[None]:
        yield


class InMemoryWakeup(Wakeup):
    """Remember hints, and wait by pausing again and again until there is one or the clock says it is time.

    `pause` is awaited between two looks. The default gives way once, which suits simulations and short tests; a host
    that waits for long passes a pause of its own that sleeps a little.
    """

    def __init__(self, clock: Clock, *, pause: Callable[[], Awaitable[None]] = Pause) -> None:
        self._clock = clock
        self._pause = pause
        self._hinted = False

    def hint(self) -> None:
        self._hinted = True

    async def wait(self, *, timeout_seconds: float) -> None:
        """Return at once if there was a hint since the last wait ended; hints that nobody awaited count as one."""
        deadline = self._clock.now() + timedelta(seconds=timeout_seconds)
        while not self._hinted and self._clock.now() < deadline:
            await self._pause()
        self._hinted = False
