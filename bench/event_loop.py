"""The event loop that the service runs on, for what is measured in this process."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import uvloop


def run[Result](measuring: Coroutine[Any, Any, Result]) -> Result:
    """Run a measurement on a loop of its own, of the kind that `orchestrator serve` uses."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(measuring)
