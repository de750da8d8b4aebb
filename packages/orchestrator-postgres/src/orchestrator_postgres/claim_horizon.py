"""From where on a claim looks, so that it doesn't walk again over what claims before it have taken.

What was claimed leaves dead entries at the beginning of both partial indexes, and they can't be cleared away while any
session holds an older snapshot. So most claims begin a little before the place where the last one ended: two seconds,
or as few as a hundred executions where more have been claimed in that time, so that it doesn't matter how many became
due at one moment. A few a second begin at the very beginning, for what was locked then, or became visible late.
"""

from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from attrs import define, field

from orchestrator_postgres.row_mapping import Row

_EVERYWHERE_SECONDS = 0.25
_MARGIN = timedelta(seconds=2)
# An event is stored with the moment of its acceptance and becomes visible a little later, when that is committed.
_MARGIN_MIN = timedelta(seconds=0.5)
_WALKED_AGAIN_MAX = 100
_BEGINNING: Final = "-infinity"

type _From = datetime | str
type _Place = tuple[datetime, datetime]
"""When an execution is due and when it was created: the order of the index."""


@define
class ClaimHorizon:
    """Remember what one queue's claims have found; the times are the store's, but for how often to look everywhere."""

    _clock: Callable[[], float] = monotonic
    _due_from: _From = field(default=_BEGINNING, init=False)
    _created_from: _From = field(default=_BEGINNING, init=False)
    _lapsed_from: _From = field(default=_BEGINNING, init=False)
    _everywhere_at: float | None = field(default=None, init=False)
    _recent: deque[tuple[_Place, int]] = field(factory=deque, init=False)
    _recent_count: int = field(default=0, init=False)

    def bounds(self) -> dict[str, object]:
        """Return the parameters of the next claim."""
        now = self._clock()
        if self._everywhere_at is None or now - self._everywhere_at >= _EVERYWHERE_SECONDS:
            self._everywhere_at = now
            return dict.fromkeys(("due_from", "created_from", "lapsed_from"), _BEGINNING)
        return {
            "due_from": self._due_from,
            "created_from": self._created_from,
            "lapsed_from": self._lapsed_from,
        }

    def learn(self, marked: Sequence[Row], *, limit: int) -> None:
        """Take note of a claim that has been committed."""
        if not marked:
            return
        claimed_at: datetime = max(row["claimed_at"] for row in marked)
        # An execution whose lease has lapsed may be due at any time.
        last = min(max(_place(row) for row in marked), (claimed_at, claimed_at))
        self._remember(last, len(marked))
        if len(marked) < limit:
            self._begin_before(claimed_at)
        else:
            self._begin_at_most_before(last)

    def _begin_before(self, claimed_at: datetime) -> None:
        """Nothing is left that was due; what is claimed next is due about now."""
        earliest, latest = claimed_at - _MARGIN, claimed_at - _MARGIN_MIN
        place = self._claimed_up_to()
        self._due_from = self._lapsed_from = (
            earliest if place is None else min(max(place[0], earliest), latest)
        )
        self._created_from = _BEGINNING

    def _begin_at_most_before(self, last: _Place) -> None:
        """Whatever comes behind the last of them was left for want of room."""
        earliest, place = last[0] - _MARGIN, self._claimed_up_to()
        if place is None or place[0] < earliest:
            self._due_from, self._created_from = earliest, _BEGINNING
        else:
            self._due_from, self._created_from = place

    def _remember(self, place: _Place, count: int) -> None:
        self._recent.append((place, count))
        self._recent_count += count
        while self._recent_count - self._recent[0][1] >= _WALKED_AGAIN_MAX:
            self._recent_count -= self._recent.popleft()[1]

    def _claimed_up_to(self) -> _Place | None:
        """Return the last place behind which no more than a hundred have been claimed, None if that is all of them."""
        return self._recent[0][0] if self._recent_count >= _WALKED_AGAIN_MAX else None


def _place(row: Row) -> _Place:
    return row["next_attempt_at"], row["created_at"]
