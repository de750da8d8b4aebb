"""Durable retry arithmetic."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.execution.retry import attempts_left, parked_delay, retry_delay
from orchestrator_domain.flow.contract import RetryContract

DEFAULT = RetryContract()
FRACTIONS = st.floats(min_value=0.0, max_value=1.0, exclude_max=True)
ATTEMPTS = st.integers(min_value=1, max_value=10**6)


@pytest.mark.parametrize(
    ("attempts", "seconds"), [(1, 2.0), (2, 4.0), (3, 8.0), (5, 32.0), (6, 60.0), (7, 60.0)]
)
def test_the_wait_doubles_up_to_its_maximum(attempts: int, seconds: float) -> None:
    assert retry_delay(DEFAULT, attempts=attempts, fraction=0.5) == seconds


def test_attempt_one_million_waits_the_maximum() -> None:
    assert retry_delay(DEFAULT, attempts=1_000_000, fraction=0.5) == DEFAULT.backoff_max_seconds


def test_an_attempt_count_of_a_thousand_digits_waits_the_maximum() -> None:
    assert retry_delay(DEFAULT, attempts=10**1000, fraction=0.5) == DEFAULT.backoff_max_seconds


@given(attempts=ATTEMPTS, fraction=FRACTIONS)
def test_jitter_keeps_the_wait_within_a_quarter_of_the_backoff(attempts: int, fraction: float) -> None:
    backoff = retry_delay(DEFAULT, attempts=attempts, fraction=0.5)
    assert 0.75 * backoff <= retry_delay(DEFAULT, attempts=attempts, fraction=fraction) <= 1.25 * backoff


@given(fraction=FRACTIONS)
def test_the_wait_never_shrinks_as_attempts_go_by(fraction: float) -> None:
    waits = [retry_delay(DEFAULT, attempts=attempts, fraction=fraction) for attempts in range(1, 50)]
    assert all(earlier <= later for earlier, later in pairwise(waits))


@given(attempts=ATTEMPTS, lower=FRACTIONS, higher=FRACTIONS)
def test_different_fractions_spread_the_wait(attempts: int, lower: float, higher: float) -> None:
    waits = [retry_delay(DEFAULT, attempts=attempts, fraction=fraction) for fraction in (lower, higher)]
    assert (waits[0] < waits[1]) is (0.75 + lower / 2 < 0.75 + higher / 2)


@given(attempts=ATTEMPTS, fraction=FRACTIONS, asked=st.floats(allow_nan=True, allow_infinity=True))
def test_retry_after_only_lengthens_the_wait_and_only_up_to_its_bound(
    attempts: int, fraction: float, asked: float
) -> None:
    plain = retry_delay(DEFAULT, attempts=attempts, fraction=fraction)
    waited = retry_delay(DEFAULT, attempts=attempts, fraction=fraction, retry_after_seconds=asked)
    assert plain <= waited <= max(plain, DEFAULT.retry_after_max_seconds)


@pytest.mark.parametrize(("asked", "waited"), [(120.0, 120.0), (1.0, 2.0), (301.0, 300.0), (-5.0, 2.0)])
def test_a_providers_retry_after_is_honoured_within_bounds(asked: float, waited: float) -> None:
    assert retry_delay(DEFAULT, attempts=1, fraction=0.5, retry_after_seconds=asked) == waited


@pytest.mark.parametrize(("attempts", "left"), [(0, True), (2, True), (3, False), (1_000_000, False)])
def test_three_attempts_are_made_unless_the_contract_says_otherwise(attempts: int, *, left: bool) -> None:
    assert attempts_left(DEFAULT, attempts) is left


@given(
    seconds=st.floats(min_value=0.0, max_value=1e9),
    age=st.floats(min_value=0.0, max_value=1e9),
    fraction=FRACTIONS,
)
def test_parking_lasts_as_long_as_is_asked_for_within_its_bounds(
    seconds: float, age: float, fraction: float
) -> None:
    asked = min(max(seconds, 1.0, age / 10), DEFAULT.parked_seconds_max)
    delay = parked_delay(DEFAULT, seconds=seconds, first_start_age_seconds=age, fraction=fraction)
    assert asked <= delay <= asked * 1.25


def test_an_action_that_finds_no_place_for_an_hour_is_parked_less_than_a_hundred_times() -> None:
    age, times = 0.0, 0
    while age < DEFAULT.parked_seconds_max:
        age += parked_delay(DEFAULT, seconds=5.0, first_start_age_seconds=age, fraction=0.0)
        times += 1
    assert times < 100
