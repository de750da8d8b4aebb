"""From where on claims look, by a clock that tests set."""

from datetime import UTC, datetime, timedelta

from attrs import define

from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.row_mapping import Row

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
EVERYWHERE = {"due_from": "-infinity", "lapsed_from": "-infinity"}


@define
class _Clock:
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


def _row(*, due_at: datetime) -> Row:
    return {"next_attempt_at": due_at, "claimed_at": NOON}


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
    shortly_before = NOON - timedelta(seconds=2)
    assert horizon.bounds() == {"due_from": shortly_before, "lapsed_from": shortly_before}


def test_a_claim_that_left_some_lets_the_next_one_begin_shortly_before_the_last_it_took() -> None:
    horizon = _horizon(_Clock())
    last = NOON - timedelta(hours=1)
    horizon.learn([_row(due_at=last), _row(due_at=last - timedelta(hours=1))], limit=2)
    assert horizon.bounds() == {"due_from": last - timedelta(seconds=2), "lapsed_from": "-infinity"}


def test_every_quarter_of_a_second_a_claim_looks_everywhere() -> None:
    clock = _Clock()
    horizon = _horizon(clock)
    horizon.learn([_row(due_at=NOON)], limit=2)
    clock.seconds = 0.24
    assert horizon.bounds() != EVERYWHERE
    clock.seconds = 0.25
    assert horizon.bounds() == EVERYWHERE
    assert horizon.bounds() != EVERYWHERE
