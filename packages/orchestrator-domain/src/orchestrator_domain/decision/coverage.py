"""Many boxes under one roof: which of them a box meets, and what of it they leave uncovered.

Sets of boxes are integers with one bit for each, so that most questions are one operation on whole sets.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import define, field

from orchestrator_domain.decision.boxes import Box, Budget

_BOXES_IN_A_STEP: Final = 8


@define(kw_only=True)
class Coverage:
    """Answer for a fixed list of boxes; what one question learns about a set of cells, the next ones reuse.

    `every_cell` has all cells of each path. Raises AnalysisExhausted when the budget is used up.
    """

    boxes: Sequence[Box]
    every_cell: Sequence[int]
    budget: Budget
    _alike: Sequence[dict[int, int]] = field(init=False)
    _touching: dict[tuple[int, int], int] = field(factory=dict, init=False)

    @_alike.default
    def _boxes_by_their_cells(self) -> Sequence[dict[int, int]]:
        """Return, for each path, the sets of boxes that have the same cells there."""
        alike: list[dict[int, int]] = [{} for _ in self.every_cell]
        for number, box in enumerate(self.boxes):
            for path, sets in enumerate(alike):
                cells = box.get(path, self.every_cell[path])
                sets[cells] = sets.get(cells, 0) | 1 << number
        return alike

    def meeting(self, box: Box, among: int) -> int:
        """Return those of the set that share a context with the box."""
        for path, cells in box.items():
            if not among:
                break
            among &= self._touched(path, cells)
        return among

    def uncovered(self, box: Box, cover: int) -> Iterator[Box]:
        """Yield the parts of the box that no box of the set covers, apart from one another.

        One box is taken away after the other; what lies outside of it on some path is looked at on its own.
        """
        pending = [(box, self.meeting(box, cover))]
        while pending:
            rest, covering = pending.pop()
            self.budget.spend(1)
            if not covering:
                yield rest
                continue
            pending += self._outside(rest, covering)

    def _outside(self, box: Box, covering: int) -> Iterator[tuple[Box, int]]:
        taken_away = self.boxes[(covering & -covering).bit_length() - 1]
        for path, cells in taken_away.items():
            within = box.get(path, self.every_cell[path])
            if within & ~cells:
                yield {**box, path: within & ~cells}, covering & self._touched(path, within & ~cells)
                box = {**box, path: within & cells}

    def _touched(self, path: int, cells: int) -> int:
        known = self._touching.get((path, cells))
        if known is None:
            sets = self._alike[path]
            self.budget.spend(len(sets) // _BOXES_IN_A_STEP + 1)
            known = 0
            for their_cells, boxes in sets.items():
                if their_cells & cells:
                    known |= boxes
            self._touching[path, cells] = known
        return known


def members_of(boxes: int) -> Iterator[int]:
    """Yield the numbers of the boxes in a set, lowest first."""
    while boxes:
        lowest = boxes & -boxes
        yield lowest.bit_length() - 1
        boxes ^= lowest
