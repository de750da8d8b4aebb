"""The manual clock moves when it is told to."""

from datetime import timedelta

import pytest

from orchestrator_domain.testing.manual_clock import EPOCH_OF_TESTS, ManualClock


def test_it_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock()
    assert clock.now() == clock.now() == EPOCH_OF_TESTS
    clock.advance(1.5)
    assert clock.now() == EPOCH_OF_TESTS + timedelta(seconds=1.5)


def test_with_a_tick_no_two_readings_are_alike() -> None:
    clock = ManualClock(tick_seconds=0.25)
    assert clock.now() + timedelta(seconds=0.25) == clock.now()


def test_its_time_has_a_zone() -> None:
    assert ManualClock().now().utcoffset() == timedelta(0)


def test_it_never_goes_back() -> None:
    with pytest.raises(ValueError, match="never goes back"):
        ManualClock().advance(-0.001)
