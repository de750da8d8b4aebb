"""From where on a claim looks, so that it doesn't walk again over what claims before it have taken.

What was claimed leaves dead entries at the beginning of both partial indexes, and they can't be cleared away while any
session holds an older snapshot. So most claims begin a little before the place where the last one ended. A few a
second begin at the very beginning, for what was locked then, or became visible late.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from attrs import define, field

from orchestrator_postgres.row_mapping import Row

_EVERYWHERE_SECONDS = 0.25
_MARGIN = timedelta(seconds=2)
_BEGINNING: Final = "-infinity"

type _From = datetime | str


@define
class ClaimHorizon:
    """Remember what one queue's claims have found; the times are the store's, but for how often to look everywhere."""

    _clock: Callable[[], float] = monotonic
    _due_from: _From = field(default=_BEGINNING, init=False)
    _lapsed_from: _From = field(default=_BEGINNING, init=False)
    _everywhere_at: float | None = field(default=None, init=False)

    def bounds(self) -> dict[str, object]:
        """Return the parameters of the next claim."""
        now = self._clock()
        if self._everywhere_at is None or now - self._everywhere_at >= _EVERYWHERE_SECONDS:
            self._everywhere_at = now
            return {"due_from": _BEGINNING, "lapsed_from": _BEGINNING}
        return {"due_from": self._due_from, "lapsed_from": self._lapsed_from}

    def learn(self, marked: Sequence[Row], *, limit: int) -> None:
        """Take note of a claim that has been committed."""
        if not marked:
            return
        claimed_at = max(row["claimed_at"] for row in marked)
        if len(marked) < limit:
            self._due_from = self._lapsed_from = claimed_at - _MARGIN
        else:
            # Whatever is due later than the last of them was left for want of room.
            last = max(row["next_attempt_at"] for row in marked)
            self._due_from = min(last, claimed_at) - _MARGIN
