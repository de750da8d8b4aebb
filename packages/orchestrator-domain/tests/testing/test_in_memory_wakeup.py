"""The in-memory wakeup keeps what the port promises, and needs no event loop for it."""

import pytest

from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryWakeupHarness
from orchestrator_domain.testing.contracts.wakeup_contract import WakeupContract
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock


@pytest.fixture
def wakeup_harness() -> InMemoryWakeupHarness:
    return InMemoryWakeupHarness()


class TestInMemoryWakeup(WakeupContract):
    """Runs the shared suite."""


def test_a_simulation_drives_a_wait_by_hand_until_the_clock_says_so() -> None:
    clock = ManualClock()
    wait = InMemoryWakeup(clock).wait(timeout_seconds=5)
    for _ in range(3):
        wait.send(None)
    clock.advance(5)
    with pytest.raises(StopIteration):
        wait.send(None)


def test_a_hint_ends_a_wait_at_its_next_look() -> None:
    wakeup = InMemoryWakeup(ManualClock())
    wait = wakeup.wait(timeout_seconds=5)
    wait.send(None)
    wakeup.hint()
    with pytest.raises(StopIteration):
        wait.send(None)


def test_a_hint_ends_one_wait_only() -> None:
    wakeup = InMemoryWakeup(ManualClock())
    wakeup.hint()
    with pytest.raises(StopIteration):
        wakeup.wait(timeout_seconds=5).send(None)
    second = wakeup.wait(timeout_seconds=5)
    assert second.send(None) is None
    second.close()
