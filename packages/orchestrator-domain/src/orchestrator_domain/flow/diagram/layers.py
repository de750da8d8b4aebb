"""Boxes in rows: each below all that lead to it, and near them (after Sugiyama, Tagawa and Toda, 1981, simplified)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from attrs import define, field, frozen

GAP_ACROSS = 28.0
GAP_DOWN = 46.0
_SWEEPS = 12


@frozen(kw_only=True)
class Box:
    """A box of a size; edges lead from box to box and never back."""

    width: float
    height: float


@frozen(kw_only=True)
class Placed:
    """Centres of boxes, and for each edge the points that it passes between its ends; sizes of the whole."""

    centres: Sequence[tuple[float, float]]
    bends: Mapping[tuple[int, int], Sequence[tuple[float, float]]]
    width: float
    height: float


def placed_in_rows(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> Placed:
    """Place the boxes; `edges` name them by their number and are without circles."""
    layout = _Layout(boxes=list(boxes))
    layout.assign_rows(edges)
    layout.order_rows()
    layout.spread()
    return layout.placed(len(boxes))


@define(kw_only=True)
class _Layout:
    boxes: list[Box]
    rows: list[list[int]] = field(factory=list)
    row_of: dict[int, int] = field(factory=dict)
    above: dict[int, list[int]] = field(factory=dict)
    below: dict[int, list[int]] = field(factory=dict)
    x: dict[int, float] = field(factory=dict)
    chains: dict[tuple[int, int], list[int]] = field(factory=dict)

    def assign_rows(self, edges: Sequence[tuple[int, int]]) -> None:
        """Put each box one row below the lowest that leads to it; long edges get a stand-in in each row they pass."""
        self.row_of = _longest_ways(len(self.boxes), edges)
        for start, end in dict.fromkeys(edges):
            chain = [start]
            for row in range(self.row_of[start] + 1, self.row_of[end]):
                self.boxes.append(Box(width=8, height=0))
                self.row_of[len(self.boxes) - 1] = row
                chain.append(len(self.boxes) - 1)
            chain.append(end)
            self.chains[start, end] = chain[1:-1]
            for upper, lower in pairwise(chain):
                self.below.setdefault(upper, []).append(lower)
                self.above.setdefault(lower, []).append(upper)
        self.rows = [[] for _ in range(1 + max(self.row_of.values(), default=0))]
        for number, row in self.row_of.items():
            self.rows[row].append(number)

    def order_rows(self) -> None:
        """Order each row by the middle of its neighbours, downwards and upwards in turn."""
        for sweep in range(_SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self.above if downwards else self.below
            rows = self.rows if downwards else self.rows[::-1]
            places: dict[int, float] = {}
            for row in rows:
                ordered = {number: float(index) for index, number in enumerate(row)}
                row.sort(
                    key=lambda number, ordered=ordered: _mean(  # type: ignore[misc]  # the default binds the row
                        [places[each] for each in neighbours.get(number, ())], ordered[number]
                    )
                )
                places |= {number: index - len(row) / 2 for index, number in enumerate(row)}

    def spread(self) -> None:
        """Move the boxes of each row below and above their neighbours as far as there is room."""
        for row in self.rows:
            self._pack(row, dict.fromkeys(row, 0.0))
        for sweep in range(_SWEEPS):
            neighbours = self.above if sweep % 2 == 0 else self.below
            for row in self.rows if sweep % 2 == 0 else self.rows[::-1]:
                wanted = {
                    number: _mean([self.x[each] for each in neighbours.get(number, ())], self.x[number])
                    for number in row
                }
                self._pack(row, wanted)

    def _pack(self, row: Sequence[int], wanted: Mapping[int, float]) -> None:
        """Give each box the place it wants, pushed aside evenly by those before and those after it."""
        from_left = self._pushed(row, wanted, 1)
        from_right = self._pushed(row[::-1], wanted, -1)
        self.x |= {number: (from_left[number] + from_right[number]) / 2 for number in row}

    def _pushed(self, row: Sequence[int], wanted: Mapping[int, float], direction: int) -> dict[int, float]:
        places: dict[int, float] = {}
        edge: float | None = None
        for number in row:
            half = self.boxes[number].width / 2
            place = wanted[number] * direction
            if edge is not None:
                place = max(place, edge + GAP_ACROSS + half)
            places[number], edge = place * direction, place + half
        return places

    def placed(self, count: int) -> Placed:
        left = min((self.x[number] - self.boxes[number].width / 2 for number in self.x), default=0.0)
        right = max((self.x[number] + self.boxes[number].width / 2 for number in self.x), default=0.0)
        middles, top = [], 0.0
        for row in self.rows:
            height = max((self.boxes[number].height for number in row), default=0.0)
            middles.append(top + height / 2)
            top += height + GAP_DOWN
        centres = {number: (self.x[number] - left, middles[self.row_of[number]]) for number in self.x}
        return Placed(
            centres=[centres[number] for number in range(count)],
            bends={edge: [centres[number] for number in chain] for edge, chain in self.chains.items()},
            width=right - left,
            height=max(top - GAP_DOWN, 0.0),
        )


def _longest_ways(count: int, edges: Sequence[tuple[int, int]]) -> dict[int, int]:
    """Return for each box the length of the longest way to it (Kahn's order)."""
    incoming = dict.fromkeys(range(count), 0)
    onward: dict[int, list[int]] = {}
    for start, end in edges:
        incoming[end] += 1
        onward.setdefault(start, []).append(end)
    rows = dict.fromkeys(range(count), 0)
    ready = [number for number, ways in incoming.items() if ways == 0]
    while ready:
        number = ready.pop(0)
        for end in onward.get(number, ()):
            rows[end] = max(rows[end], rows[number] + 1)
            incoming[end] -= 1
            if incoming[end] == 0:
                ready.append(end)
    return rows


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
