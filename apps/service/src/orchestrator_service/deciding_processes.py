"""Processes among which rows are shared."""

import signal
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def deciding_processes(count: int) -> ProcessPoolExecutor:
    """Return as many processes, each of which an interrupt ends at once and in silence.

    Spawned, as a fork would copy whatever locks the host's threads hold, Arrow's among them.
    """
    return ProcessPoolExecutor(
        count,
        mp_context=get_context("spawn"),
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_DFL),
    )
