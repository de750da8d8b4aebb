"""Arrow columns as exact JSON values. Needs pyarrow, the extra `arrow` of this package."""

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # it comes without types

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue

type Exact = Callable[[Any], JsonValue | Absent]
"""From what pyarrow makes of a cell to its exact value; null is absent, but within a list."""

_NARROW_FLOATS: Final = {"halffloat": ("e", 5), "float": ("f", 9)}
"""By type: how a float narrower than Python's is packed, and how many digits are always enough for it."""
_WHOLE_NUMBERS: Final[dict[str, Any]] = {
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
}
"""By type: how its cells lie in memory, for `memoryview`."""


class InexactColumn(OrchestratorError):
    """A column's type has no exact JSON value, or none without being told how to read it."""

    code = "INEXACT_COLUMN"


def exact_cells(kind: Any, name: str, *, shortest_floats: bool = False) -> Exact:
    """Return what makes cells of an Arrow type exact.

    Floats are refused unless `shortest_floats` takes the shortest decimal that reads back as the same float; NaN and
    infinities are refused even then. Raises InexactColumn for every type that JSON doesn't have.
    """
    if pa.types.is_dictionary(kind):
        return exact_cells(kind.value_type, name, shortest_floats=shortest_floats)
    if _is_exact(kind):
        return _absent_for_null
    if pa.types.is_floating(kind):
        if not shortest_floats:
            raise InexactColumn(
                f"The column '{name}' holds floats, which aren't exact: write decimals or strings, "
                "or read each as its shortest decimal with '--floats shortest'."
            )
        return _shortest(str(kind), name)
    if pa.types.is_struct(kind):
        return _exact_struct(kind, name, shortest_floats=shortest_floats)
    if _is_list(kind):
        return _exact_list(kind, name, shortest_floats=shortest_floats)
    raise InexactColumn(f"The column '{name}' is of type {kind}, which JSON doesn't have; cast it first.")


def python_cells(column: Any) -> list[Any]:
    """Return what `to_pylist` gives, in a fraction of its time where cells are decimals or whole numbers."""
    if column.null_count:
        return list(column.to_pylist())
    if pa.types.is_decimal(column.type):
        return list(map(Decimal, column.cast(pa.string()).to_pylist()))
    layout = _WHOLE_NUMBERS.get(str(column.type))
    if layout is None or not len(column):
        return list(column.to_pylist())
    cells = memoryview(column.buffers()[1]).cast(layout)
    return list(cells[column.offset : column.offset + len(column)])


def _is_exact(kind: Any) -> bool:
    types = pa.types
    return any(
        is_one(kind)
        for is_one in (
            types.is_null,
            types.is_boolean,
            types.is_integer,
            types.is_decimal,
            types.is_string,
            types.is_large_string,
            types.is_string_view,
        )
    )


def _is_list(kind: Any) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _absent_for_null(cell: Any) -> JsonValue | Absent:
    return ABSENT if cell is None else cell


def _exact_struct(kind: Any, name: str, *, shortest_floats: bool) -> Exact:
    names = [field.name for field in kind]
    if len({*names}) < len(names):
        raise InexactColumn(f"The column '{name}' holds objects with two members of one name.")
    fields = {
        field.name: exact_cells(field.type, f"{name}/{field.name}", shortest_floats=shortest_floats)
        for field in (kind.field(number) for number in range(kind.num_fields))
    }

    def exact(cell: Any) -> JsonValue | Absent:
        if cell is None:
            return ABSENT
        members = ((key, fields[key](value)) for key, value in cell.items())
        return {key: value for key, value in members if not isinstance(value, Absent)}

    return exact


def _exact_list(kind: Any, name: str, *, shortest_floats: bool) -> Exact:
    element = exact_cells(kind.value_type, name, shortest_floats=shortest_floats)

    def exact(cell: Any) -> JsonValue | Absent:
        if cell is None:
            return ABSENT
        elements = (element(value) for value in cell)
        return [None if isinstance(value, Absent) else value for value in elements]

    return exact


def _shortest(kind: str, name: str) -> Exact:
    def exact(cell: Any) -> JsonValue | Absent:
        if cell is None:
            return ABSENT
        number = Decimal(_shortest_text(float(cell), kind))
        if not number.is_finite():
            raise InexactColumn(f"The column '{name}' holds a number that is infinite or none at all.")
        return number

    return exact


def _shortest_text(number: float, kind: str) -> str:
    narrower = _NARROW_FLOATS.get(kind)
    if narrower is None:
        return repr(number)
    layout, most = narrower
    written = (f"{number:.{digits}g}" for digits in range(1, most))
    return next((text for text in written if _reads_back(text, number, layout)), f"{number:.{most}g}")


def _reads_back(text: str, number: float, layout: str) -> bool:
    try:
        return bool(struct.unpack(layout, struct.pack(layout, float(text)))[0] == number)
    except OverflowError:
        return False
