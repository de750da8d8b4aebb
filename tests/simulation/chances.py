"""Everything that a seed decides, drawn in one order, so that a seed is a whole history."""

from collections.abc import Sequence
from random import Random

from attrs import define, field


@define
class Chances:
    """Draw from one seed. Faults are numbered in the order in which they were drawn; those `without` don't happen."""

    seed: int
    without: frozenset[int] = frozenset()
    faults: int = 0
    quiet: bool = False
    _random: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._random = Random(self.seed)

    def one_of[T](self, options: Sequence[T]) -> T:
        return options[int(self._random.random() * len(options))]

    def happens(self, probability: float) -> bool:
        return self._random.random() < probability

    def fault(self, probability: float) -> bool:
        """Say whether a fault strikes here; never once it is quiet."""
        if self.quiet or self._random.random() >= probability:
            return False
        self.faults += 1
        return self.faults not in self.without
