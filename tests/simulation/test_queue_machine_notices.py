"""The machine that holds queues against their model notices a queue with one protection left out."""

from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import Phase, settings
from tests.simulation import broken_queues
from tests.simulation.stepping import run_synchronously

from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.queue_machine import QueueMachineContract
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue

BROKEN: tuple[type[InMemoryExecutionQueue], ...] = (
    broken_queues.FenceNotComparedOnCheckpoint,
    broken_queues.FenceNotComparedOnCompletion,
    broken_queues.ExpiredLeaseMayWrite,
    broken_queues.RenewalRevivesExpiredLease,
    broken_queues.TokenNotRaisedByClaim,
    broken_queues.ClaimIgnoresRunningLease,
    broken_queues.CheckpointsAreUpserted,
)


class BrokenHarness(InMemoryHarness):
    """A harness whose queue lacks something."""

    def __init__(self, queue: type[InMemoryExecutionQueue]) -> None:
        super().__init__()
        self._broken = queue

    def queue(self) -> InMemoryExecutionQueue:
        return self._broken(self.store)


class BrokenRoom:
    """A room with a broken queue in it."""

    def __init__(self, queue: type[InMemoryExecutionQueue]) -> None:
        self._queue = queue

    def emptied(self) -> BrokenHarness:
        return BrokenHarness(self._queue)

    def run[Result](self, story: Coroutine[Any, Any, Result]) -> Result:
        return run_synchronously(story)


class LongerMachine(QueueMachineContract):
    histories = settings(
        QueueMachineContract.histories, max_examples=300, phases=[Phase.generate], derandomize=True
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("queue", BROKEN)
def test_a_queue_with_one_protection_left_out_disagrees_with_the_model(
    queue: type[InMemoryExecutionQueue],
) -> None:
    with pytest.raises(AssertionError):
        LongerMachine().test_whatever_workers_do_in_whatever_order_the_queue_agrees_with_its_model(
            BrokenRoom(queue)
        )
