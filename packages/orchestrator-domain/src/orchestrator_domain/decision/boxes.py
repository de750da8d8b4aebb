"""Sets of contexts as unions of boxes: for each path, a set of cells that its value may lie in."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from attrs import define, frozen

type Box = Mapping[int, int]
"""Cells by the number of the path; a path that isn't named may have any value."""

type Region = tuple[Box, ...]

EVERYTHING: Region = ({},)
NOTHING: Region = ()


class AnalysisExhausted(Exception):
    """The budget of steps is used up; what was asked stays undecided."""


@define
class Budget:
    """Bound the work of one analysis."""

    steps: int

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise AnalysisExhausted


@frozen(kw_only=True)
class Answers:
    """Where a condition is true, where it is false, and where it can't be answered: three parts of everything."""

    true: Region
    false: Region
    error: Region

    def negated(self) -> "Answers":
        return Answers(true=self.false, false=self.true, error=self.error)


def conjunction(parts: Iterable[Answers], budget: Budget) -> Answers:
    """Join from left to right: what follows a false part is not reached, so its errors don't count."""
    return reduce(lambda left, right: _both(left, right, budget), parts)


def disjunction(parts: Iterable[Answers], budget: Budget) -> Answers:
    return conjunction((part.negated() for part in parts), budget).negated()


def _both(left: Answers, right: Answers, budget: Budget) -> Answers:
    return Answers(
        true=intersection(left.true, right.true, budget),
        false=merged(left.false + intersection(left.true, right.false, budget)),
        error=merged(left.error + intersection(left.true, right.error, budget)),
    )


def intersection(left: Region, right: Region, budget: Budget) -> Region:
    """Return the boxes that lie in both."""
    budget.spend(len(left) * len(right) + 1)
    return merged(tuple(_intersections(left, right)))


def _intersections(left: Region, right: Region) -> Iterator[Box]:
    for one in left:
        for other in right:
            box = meeting(one, other)
            if box is not None:
                yield box


def meeting(one: Box, other: Box) -> Box | None:
    """Return the part that two boxes share, or None."""
    box = dict(one)
    for path, cells in other.items():
        shared = box.get(path, cells) & cells
        if not shared:
            return None
        box[path] = shared
    return box


def merged(region: Region) -> Region:
    """Join boxes that differ in one path only."""
    if len(region) < 2:
        return region
    for path in sorted({path for box in region for path in box}):
        region = _merged_along(path, region)
    return region


def _merged_along(path: int, region: Region) -> Region:
    joined: dict[frozenset[tuple[int, int]], Box] = {}
    for box in region:
        rest = frozenset(item for item in box.items() if item[0] != path)
        known = joined.get(rest)
        if known is None:
            joined[rest] = box
        elif path in known and path in box:
            joined[rest] = {**known, path: known[path] | box[path]}
        else:
            joined[rest] = dict(rest)
    return tuple(joined.values())
