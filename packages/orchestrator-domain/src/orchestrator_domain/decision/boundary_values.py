"""The values of one path that a rule should be tried with: both sides of each bound, and every other kind."""

from bisect import bisect_left
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Final

from orchestrator_domain.decision.cells import Cells, Number, cells_between, is_exact
from orchestrator_domain.decision.condition import Condition
from orchestrator_domain.decision.space import compared, leaves
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue

_FINER_DIGITS: Final = 2
_DIGITS: Final = 400


def boundary_values(condition: Condition, pointer: Pointer) -> tuple[JsonValue | Absent, ...]:
    """Return the values at a path between which the condition could tell a difference, ABSENT among them.

    A number of the condition comes with its close neighbours on both sides, two digits finer than it is written, so
    that a bound that is moved a little is noticed.
    """
    literals = [
        literal
        for leaf in leaves(condition)
        for path, values in compared(leaf)
        if path == pointer
        for literal in values
    ]
    cells = cells_between(literals)
    neighbours = (value for bound in cells.numbers for value in _around(bound, cells))
    # At the edge of what numbers may be, nothing that may come in lies beyond a bound.
    return tuple(
        value for value in (*cells.representatives, *neighbours) if value is ABSENT or is_exact(value)
    )


def _around(bound: Number, cells: Cells) -> Iterator[JsonValue]:
    with localcontext(prec=_DIGITS):
        exponent = Decimal(bound).as_tuple().exponent
        assert isinstance(exponent, int), "numbers of conditions are finite"
        step = Decimal(1).scaleb(min(exponent, 0) - _FINER_DIGITS)
        neighbours = (Decimal(bound) - step, Decimal(bound) + step)
    at = bisect_left(cells.numbers, bound)
    if at == 0 or cells.numbers[at - 1] < neighbours[0]:
        yield neighbours[0]
    if at + 1 == len(cells.numbers) or neighbours[1] < cells.numbers[at + 1]:
        yield neighbours[1]
