"""Long computations in few threads of their own, so that the event loop goes on answering meanwhile."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from attrs import field, frozen

# The schema library descends on the machine's stack and ends the process where that is at its end; what a thread gets by
# default is the system's to say, and may be far less than the main thread has.
_STACK_BYTES: Final = 16 * 1024 * 1024
_STACK_SETTING = threading.Lock()


def _threads(count: int) -> ThreadPoolExecutor:
    """Start all threads at once: how much stack they get is a setting of the process, changed for a moment only."""
    executor = ThreadPoolExecutor(max_workers=count, thread_name_prefix="heavy-work")
    everybody_is_here = threading.Barrier(count)
    with _STACK_SETTING:
        before = threading.stack_size(_STACK_BYTES)
        try:
            for _ in range(count):
                executor.submit(everybody_is_here.wait)
        finally:
            threading.stack_size(before)
    return executor


@frozen(kw_only=True)
class HeavyWork:
    """Implement the RunHeavy port: at most `threads_max` computations at once, the others wait for their turn.

    A caller that is cancelled gives its turn back unless its computation has begun, which then runs to its end.
    """

    threads_max: int = 2
    _executor: ThreadPoolExecutor = field(init=False, repr=False)

    @_executor.default
    def _started(self) -> ThreadPoolExecutor:
        return _threads(self.threads_max)

    async def run[Result](self, work: Callable[[], Result], /) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """Take no more work and leave what has not begun; what runs ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)
