"""The port through which long computations go, so that a host may keep them from holding up everything else."""

from collections.abc import Callable
from typing import Protocol


class RunHeavy(Protocol):
    """Run a computation that may take seconds.

    Promises: the computation is run once and its result returned, or what it raised is raised. Where it runs is the
    host's to say: it neither awaits nor touches anything that changes.
    """

    async def __call__[Result](self, work: Callable[[], Result], /) -> Result: ...


async def run_inline[Result](work: Callable[[], Result], /) -> Result:
    """Run a computation where it is asked for, for hosts that have nothing else to do meanwhile."""
    return work()
