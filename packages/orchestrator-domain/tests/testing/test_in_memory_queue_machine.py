"""The in-memory queue agrees with the model of a queue, whatever happens."""

from collections.abc import Coroutine
from typing import Any

import pytest

from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.queue_machine import QueueMachineContract


class MemoryRoom:
    """A store that never has to be waited for."""

    def emptied(self) -> InMemoryHarness:
        return InMemoryHarness()

    def run[Result](self, story: Coroutine[Any, Any, Result]) -> Result:
        try:
            story.send(None)
        except StopIteration as ended:
            result: Result = ended.value
            return result
        raise AssertionError("The in-memory store never waits.")


@pytest.fixture
def room() -> MemoryRoom:
    return MemoryRoom()


class TestInMemoryQueueMachine(QueueMachineContract):
    """Runs the shared machine; `room` is the in-memory one."""
