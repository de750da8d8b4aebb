"""The values at one path, cut into the cells between which no condition of a decision can tell a difference.

A cell is a bit; a set of cells is an integer. Arrays and objects share a cell, for conditions that compare a path with
literals treat them alike.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from math import ceil, floor
from typing import Final

from attrs import field, frozen

from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue, Kind, kind_of

type Number = int | Decimal

_DECIMALS_MAX: Final = 300
_LARGE: Final = 10**30


@frozen(kw_only=True)
class Cells:
    """Representatives of all cells of one path: numbers, strings, booleans, null, absent, container, in this order."""

    representatives: tuple[JsonValue | Absent, ...]
    every: int = field(init=False)
    absent: int = field(init=False)
    container: int = field(init=False)

    @every.default
    def _every(self) -> int:
        return (1 << len(self.representatives)) - 1

    @absent.default
    def _absent(self) -> int:
        return 1 << (len(self.representatives) - 2)

    @container.default
    def _container(self) -> int:
        return 1 << (len(self.representatives) - 1)

    def first(self, cells: int) -> JsonValue | Absent:
        """Return the representative of the first cell of a set that isn't empty."""
        return self.representatives[(cells & -cells).bit_length() - 1]


def cells_between(literals: Iterable[JsonValue]) -> Cells:
    """Cut the values of a path at the literals that it is compared with."""
    numbers: set[Number] = set()
    strings: set[str] = set()
    for literal in literals:
        if kind_of(literal) is Kind.NUMBER:
            numbers.add(literal)  # type: ignore[arg-type]  # the kind says so
        elif isinstance(literal, str):
            strings.add(literal)
    others: tuple[JsonValue | Absent, ...] = (True, False, None, ABSENT, {})
    return Cells(
        representatives=(*_numbers(sorted(numbers)), *sorted(strings), _other_string(strings), *others)
    )


def _numbers(literals: Sequence[Number]) -> list[JsonValue]:
    if not literals:
        return [0]
    cut: list[JsonValue] = [_beyond(literals[0], -1)]
    for index, literal in enumerate(literals):
        above = literals[index + 1] if index + 1 < len(literals) else None
        cut += [literal, _beyond(literal, 1) if above is None else _between(literal, above)]
    return cut


def _beyond(number: Number, direction: int) -> Number:
    """Return a number beyond, whole where that keeps it short."""
    if not -_LARGE < number < _LARGE:
        # Away from zero by as much again, or most of the way back to it: both keep the digits few.
        return number * 2 if (number > 0) == (direction > 0) else 0
    return floor(number) + 1 if direction > 0 else ceil(number) - 1


def _between(low: Number, high: Number) -> Number:
    """Return the number between the two that has the fewest decimals."""
    with localcontext(prec=2 * _DECIMALS_MAX):
        for decimals in range(_DECIMALS_MAX):
            scaled = Decimal(low).scaleb(decimals)
            candidate = scaled.to_integral_value(rounding="ROUND_FLOOR") + 1
            if candidate < Decimal(high).scaleb(decimals):
                return int(candidate) if decimals == 0 else candidate.scaleb(-decimals)
        return (Decimal(low) + Decimal(high)) / 2


def _other_string(literals: set[str]) -> str:
    return next(
        text for text in ("x" * length for length in range(len(literals) + 1)) if text not in literals
    )
