"""Turn signals into requests to stop: the first one in order, the next one at once."""

import signal
import threading
from types import FrameType

from orchestrator_sandbox.failure import StopRequested

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopping:
    """Whether the end was asked for, and whether it is urgent."""

    def __init__(self) -> None:
        self.requested = threading.Event()
        self.urgent = threading.Event()

    def listen(self) -> None:
        """Take the signals from now on; what the caller had ignored (as nohup does) stays ignored."""
        for each in SIGNALS:
            if signal.getsignal(each) is not signal.SIG_IGN:
                signal.signal(each, self._take)

    def check(self) -> None:
        """Raise StopRequested once a signal has come."""
        if self.requested.is_set():
            raise StopRequested

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.requested.is_set():
            self.urgent.set()
        self.requested.set()
