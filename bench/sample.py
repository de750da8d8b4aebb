"""Measuring several things alternately, so that what the machine does besides falls upon all of them."""

import gc
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from statistics import median
from time import perf_counter, process_time
from typing import Any

from attrs import field, frozen

ROUNDS = 7


@frozen(kw_only=True)
class Sample:
    """What one thing measured in each round."""

    rounds: tuple[float, ...] = field()

    @rounds.validator
    def _at_least_three(self, _attribute: Any, rounds: tuple[float, ...]) -> None:
        if len(rounds) < 3:
            raise ValueError("a median needs three rounds")

    @property
    def median(self) -> float:
        return median(self.rounds)

    @property
    def lowest(self) -> float:
        return min(self.rounds)

    @property
    def highest(self) -> float:
        return max(self.rounds)


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that so large a share of all of them doesn't exceed."""
    return sorted(values)[max(ceil(share * len(values)) - 1, 0)]


def alternately(subjects: Mapping[str, Callable[[], float]], *, rounds: int = ROUNDS) -> dict[str, Sample]:
    """Let each subject measure itself once in each round, after a first one that doesn't count."""
    found: dict[str, list[float]] = {name: [] for name in subjects}
    for number in range(rounds + 1):
        for name, measure in subjects.items():
            gc.collect()
            measured = measure()
            if number:
                found[name].append(measured)
    return {name: Sample(rounds=tuple(values)) for name, values in found.items()}


def microseconds_per(items: int, work: Callable[[], object]) -> float:
    """Time the work once, which does this many items."""
    start = perf_counter()
    work()
    return (perf_counter() - start) / items * 1e6


def milliseconds(work: Callable[[], object]) -> float:
    return microseconds_per(1, work) / 1e3


def processor_milliseconds(work: Callable[[], object]) -> float:
    """Return the time that this process worked, so that nothing else on the machine is counted."""
    start = process_time()
    work()
    return (process_time() - start) * 1e3


def processor_microseconds_per(items: int, work: Callable[[], object]) -> float:
    """Return that time for each of the items that the work does."""
    return processor_milliseconds(work) / items * 1e3
