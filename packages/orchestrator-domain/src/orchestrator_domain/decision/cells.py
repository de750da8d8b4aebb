"""The values at one path, cut into the cells between which no condition of a decision can tell a difference.

A cell is a bit; a set of cells is an integer. Arrays and objects share a cell, for conditions that compare a path with
literals treat them alike.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from functools import cached_property
from math import ceil, floor
from typing import Final

from attrs import field, frozen

from orchestrator_domain.exact_json.value import (
    ABSENT,
    DEFAULT_LIMITS,
    Absent,
    InexactJson,
    JsonValue,
    Kind,
    check_exact,
    kind_of,
)

type Number = int | Decimal

_DECIMALS_MAX: Final = 300
_LARGE: Final = 10**30
_LARGEST: Final[int] = (10**DEFAULT_LIMITS.digits_max - 1) * 10 ** (
    DEFAULT_LIMITS.exponent_max - DEFAULT_LIMITS.digits_max + 1
)


@frozen(kw_only=True)
class Cells:
    """Representatives of all cells of one path: numbers, strings, booleans, null, absent, container, in this order."""

    representatives: tuple[JsonValue | Absent, ...]
    numbers: tuple[Number, ...]
    strings: tuple[str, ...]
    absent: int = field(init=False)
    container: int = field(init=False)

    @cached_property
    def every(self) -> int:
        """Return all cells but those that no value lies in: at the edge of what numbers may be there are such."""
        possible = (each is ABSENT or is_exact(each) for each in self.representatives)
        return sum(1 << number for number, is_possible in enumerate(possible) if is_possible)

    @absent.default
    def _absent(self) -> int:
        return 1 << (len(self.representatives) - 2)

    @container.default
    def _container(self) -> int:
        return 1 << (len(self.representatives) - 1)

    def first(self, cells: int) -> JsonValue | Absent:
        """Return the representative of the first cell of a set that isn't empty."""
        return self.representatives[(cells & -cells).bit_length() - 1]

    def within(self, wider: "Cells") -> list[int]:
        """Return, for each cell of a path cut at some of the literals only, the set of these cells that it covers."""
        covered: list[int] = []
        first = 0
        for literal in wider.numbers:
            at = 2 * bisect_left(self.numbers, literal) + 1
            covered += [_run(first, at), 1 << at]
            first = at + 1
        numbers_end = 2 * len(self.numbers) + 1
        covered.append(_run(first, numbers_end))
        strings = [1 << (numbers_end + bisect_left(self.strings, literal)) for literal in wider.strings]
        others_start = numbers_end + len(self.strings)
        other_strings = _run(numbers_end, others_start + 1) - sum(strings)
        others = [1 << cell for cell in range(others_start + 1, len(self.representatives))]
        return [cells & self.every for cells in (*covered, *strings, other_strings, *others)]


def is_exact(value: JsonValue) -> bool:
    """Say whether the value is within the limits of numbers."""
    try:
        check_exact(value)
    except InexactJson:
        return False
    return True


def _run(first: int, end: int) -> int:
    return (1 << end) - (1 << first)


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
        representatives=(*_numbers(sorted(numbers)), *sorted(strings), _other_string(strings), *others),
        numbers=tuple(sorted(numbers)),
        strings=tuple(sorted(strings)),
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
        return _doubled(number) if (number > 0) == (direction > 0) else 0
    return floor(number) + 1 if direction > 0 else ceil(number) - 1


def _doubled(number: Number) -> Number:
    with localcontext(prec=2 * _DECIMALS_MAX):
        doubled = number * 2
        if -_LARGEST <= doubled <= _LARGEST or not -_LARGEST < number < _LARGEST:
            return doubled
        return _LARGEST if number > 0 else -_LARGEST


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
