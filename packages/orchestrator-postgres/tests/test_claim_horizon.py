"""From where on claims look, by a clock that tests set."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.row_mapping import Row

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
EVERYWHERE = {"due_from": "-infinity", "created_from": "-infinity", "lapsed_from": "-infinity"}


@define
class _Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def _created(due_at: datetime) -> datetime:
    return due_at - timedelta(days=1)


def _row(*, due_at: datetime) -> Row:
    return {"next_attempt_at": due_at, "created_at": _created(due_at), "claimed_at": NOON}


def _both_from(moment: datetime) -> dict[str, object]:
    return {"due_from": moment, "created_from": "-infinity", "lapsed_from": moment}


def _horizon(clock: _Clock) -> ClaimHorizon:
    horizon = ClaimHorizon(clock)
    assert horizon.bounds() == EVERYWHERE
    return horizon


def test_a_claim_looks_everywhere_as_long_as_nothing_was_found() -> None:
    horizon = _horizon(_Clock())
    horizon.learn([], limit=2)
    assert horizon.bounds() == EVERYWHERE


def test_a_claim_that_took_everything_lets_the_next_one_begin_shortly_before_its_own_moment() -> None:
    horizon = _horizon(_Clock())
    horizon.learn([_row(due_at=NOON - timedelta(hours=1))], limit=2)
    assert horizon.bounds() == _both_from(NOON - timedelta(seconds=2))


def test_a_claim_that_left_some_lets_the_next_one_begin_shortly_before_the_last_it_took() -> None:
    horizon = _horizon(_Clock())
    last = NOON - timedelta(hours=1)
    horizon.learn([_row(due_at=last), _row(due_at=last - timedelta(hours=1))], limit=2)
    assert horizon.bounds() == {**EVERYWHERE, "due_from": last - timedelta(seconds=2)}


def test_a_claim_that_left_some_lets_the_next_one_walk_again_over_a_hundred_at_most() -> None:
    horizon = _horizon(_Clock())
    moments = [NOON - timedelta(hours=1) + timedelta(milliseconds=number) for number in range(300)]
    for first in range(0, 300, 10):
        horizon.learn([_row(due_at=due_at) for due_at in moments[first : first + 10]], limit=10)
    begins_at = moments[209]
    assert horizon.bounds() == {**EVERYWHERE, "due_from": begins_at, "created_from": _created(begins_at)}


def test_however_many_became_due_at_one_moment_a_claim_goes_on_behind_those_it_took() -> None:
    horizon = _horizon(_Clock())
    rows = [
        {**_row(due_at=NOON - timedelta(hours=1)), "created_at": NOON + timedelta(microseconds=number)}
        for number in range(500)
    ]
    horizon.learn(rows, limit=500)
    bounds = horizon.bounds()
    assert (bounds["due_from"], bounds["created_from"]) == (
        rows[-1]["next_attempt_at"],
        rows[-1]["created_at"],
    )


@pytest.mark.parametrize(
    ("claimed_seconds_ago", "begins_seconds_ago"), [(0.1, 0.5), (0.5, 0.5), (1.5, 1.5), (30, 2)]
)
def test_where_many_were_claimed_the_next_one_begins_behind_them_but_half_a_second_ago_at_the_latest(
    claimed_seconds_ago: float, begins_seconds_ago: float
) -> None:
    horizon = _horizon(_Clock())
    due_at = NOON - timedelta(seconds=claimed_seconds_ago)
    horizon.learn([_row(due_at=due_at) for _ in range(100)], limit=200)
    assert horizon.bounds() == _both_from(NOON - timedelta(seconds=begins_seconds_ago))


def test_an_execution_that_was_abandoned_long_before_it_is_due_says_nothing_of_what_is_due() -> None:
    horizon = _horizon(_Clock())
    horizon.learn([_row(due_at=NOON + timedelta(hours=1))], limit=1)
    assert horizon.bounds() == {**EVERYWHERE, "due_from": NOON - timedelta(seconds=2)}


def test_every_quarter_of_a_second_a_claim_looks_everywhere() -> None:
    clock = _Clock()
    horizon = _horizon(clock)
    horizon.learn([_row(due_at=NOON)], limit=2)
    clock.seconds = 0.24
    assert horizon.bounds() != EVERYWHERE
    clock.seconds = 0.25
    assert horizon.bounds() == EVERYWHERE
    assert horizon.bounds() != EVERYWHERE


_MOMENTS = st.integers(-5000, 0).map(lambda milliseconds: timedelta(milliseconds=milliseconds))
_STEPS = st.lists(
    st.tuples(st.lists(_MOMENTS, max_size=120), st.integers(1, 60), st.sampled_from([0.01, 0.1, 0.3])),
    min_size=1,
    max_size=12,
)


@given(steps=_STEPS)
def test_whatever_becomes_visible_at_whatever_place_is_claimed_once_a_claim_looks_everywhere(
    steps: list[tuple[list[timedelta], int, float]],
) -> None:
    clock = _Clock()
    horizon, due = ClaimHorizon(clock), list[Row]()
    for appeared, limit, pause_seconds in steps:
        now = NOON + timedelta(seconds=clock.seconds)
        due += [{**_row(due_at=now + ago), "id": object()} for ago in appeared]
        _claim(horizon, due, limit=limit, now=now)
        clock.seconds += pause_seconds
    while due:
        clock.seconds += 0.3
        oldest = min(due, key=_place)
        _claim(horizon, due, limit=1, now=NOON + timedelta(seconds=clock.seconds))
        assert oldest not in due


def _claim(horizon: ClaimHorizon, due: list[Row], *, limit: int, now: datetime) -> None:
    """Take what a claim's statement would: the oldest first, from the horizon on."""
    bounds = horizon.bounds()
    begins_at = tuple(
        datetime.min.replace(tzinfo=UTC) if bounds[name] == "-infinity" else bounds[name]
        for name in ("due_from", "created_from")
    )
    marked = sorted((row for row in due if _place(row) >= begins_at), key=_place)[:limit]
    due[:] = [row for row in due if row not in marked]
    horizon.learn([{**row, "claimed_at": now} for row in marked], limit=limit)


def _place(row: Row) -> tuple[datetime, datetime]:
    return row["next_attempt_at"], row["created_at"]
