"""One decision over tables of any length: Arrow batches and Parquet files, on one process or several.

Only the columns that the decision reads are looked at. A column is named by its place in the decision's context, as
`results/buro/score`, or holds objects in which the rest of the path lies. Where many rows
of a batch have to hold the same values, those are decided once. Needs pyarrow, the extra `arrow` of this package.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from math import prod
from pathlib import Path
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # it comes without types
import pyarrow.compute as pc  # type: ignore[import-untyped]  # as above
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # as above
from attrs import frozen

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.generated import GeneratedDecision, generate_decision
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue, check_exact
from orchestrator_service.authoring.case_columns import CaseColumns
from orchestrator_service.deciding_processes import deciding_processes
from orchestrator_service.exact_arrow import InexactColumn, exact_cells, python_cells

_ROWS_AT_ONCE: Final = 1 << 18

type Cells = Sequence[JsonValue | Absent]


@frozen(kw_only=True)
class TableDecision:
    """A decision made ready for tables; each row gets the result that the evaluator gives its context alone."""

    definition: DecisionDefinition
    shortest_floats: bool = False

    def over_batches(self, batches: Iterable[Any]) -> Iterator[DecisionResult]:
        """Yield the result of each row of Arrow record batches, in order.

        Raises UnusableColumns for names that are no places, InexactColumn for a column that is read and isn't exact,
        InexactJson for a value beyond the limits of JSON.
        """
        generated = generate_decision(self.definition)
        return chain.from_iterable(self._over_batch(generated, batch) for batch in batches)

    def over_parquet(self, path: Path, *, processes: int = 1) -> Iterator[DecisionResult]:
        """Yield the result of each row of a Parquet file, in order; row groups are spread over the processes."""
        if processes == 1:
            yield from self.over_batches(self._batches(path, None))
            return
        groups = pq.ParquetFile(path).metadata.num_row_groups
        with deciding_processes(processes) as pool:
            for results, codes in pool.map(_decided_group, repeat(self), repeat(path), range(groups)):
                yield from map(results.__getitem__, codes)

    def _batches(self, path: Path, group: int | None) -> Iterator[Any]:
        file = pq.ParquetFile(path)
        columns = CaseColumns.of_names(file.schema_arrow.names)
        paths = generate_decision(self.definition).paths
        read = [
            name
            for name, place in zip(columns.names, columns.places, strict=True)
            if any(path.starts_with(place) or place.starts_with(path) for path in paths)
        ]
        groups = None if group is None else [group]
        return iter(file.iter_batches(batch_size=_ROWS_AT_ONCE, row_groups=groups, columns=read))

    def _over_batch(self, generated: GeneratedDecision, batch: Any) -> Iterator[DecisionResult]:
        columns = CaseColumns.of_names(batch.schema.names)
        read = [self._coded(path, columns, batch) for path in generated.paths]
        if not read:
            return generated.over_values(repeat((), batch.num_rows))
        if len(read) == 1:
            ((values, codes),) = read
            results = list(generated.over_values((value,) for value in values))
            return map(results.__getitem__, codes)
        if prod(len(values) for values, _ in read) > batch.num_rows:
            # Few rows are equal, and to look for those costs more than to decide them.
            cells = (map(values.__getitem__, codes) for values, codes in read)
            return generated.over_values(zip(*cells, strict=True))
        decided = _Decided(generated, [values for values, _ in read])
        return map(decided.__getitem__, zip(*(codes for _, codes in read), strict=True))

    def _coded(self, path: Pointer, columns: CaseColumns, batch: Any) -> tuple[Cells, Sequence[int]]:
        """Return the different values at a path, and for each row the number of its value."""
        for number, place in enumerate(columns.places):
            if path.starts_with(place):
                return self._coded_column(
                    columns.names[number], batch.column(number), path.without_prefix(place)
                )
        within = [number for number, place in enumerate(columns.places) if place.starts_with(path)]
        return self._coded_object(
            path, columns, [batch.column(number) for number in within], within, batch.num_rows
        )

    def _coded_column(self, name: str, column: Any, rest: Pointer) -> tuple[Cells, Sequence[int]]:
        while rest.tokens and pa.types.is_struct(column.type):
            name = f"{name}/{rest.tokens[0]}"
            indices = column.type.get_all_field_indices(rest.tokens[0])
            if not indices:
                return (ABSENT,), bytes(len(column))
            if len(indices) > 1:
                raise InexactColumn(f"The column '{name}' is there twice.")
            column, rest = pc.struct_field(column, indices), Pointer(tokens=rest.tokens[1:])
        exact = exact_cells(column.type, name, shortest_floats=self.shortest_floats)
        if pa.types.is_nested(column.type):
            cells = [_below(_checked(exact(cell)), rest) for cell in column.to_pylist()]
            return cells, range(len(cells))
        coded = column if pa.types.is_dictionary(column.type) else _encodable(column).dictionary_encode()
        different = [exact(cell) for cell in python_cells(coded.dictionary)]
        if not _is_surely_within(coded.type.value_type):
            different = [_checked(value) for value in different]
        values = [_below(value, rest) for value in different] if rest.tokens else different
        return [*values, ABSENT], _numbers(coded.indices, null=len(values))

    def _coded_object(
        self, path: Pointer, columns: CaseColumns, parts: list[Any], within: list[int], rows: int
    ) -> tuple[Cells, Sequence[int]]:
        """Put the object at a path together out of the columns that lie within it."""
        if not parts:
            return (ABSENT if path.tokens else {},), bytes(rows)
        names = tuple(columns.names[number] for number in within)
        places = tuple(columns.places[number].without_prefix(path) for number in within)
        inner = CaseColumns(names=names, places=places)
        exact = [
            map(exact_cells(part.type, name, shortest_floats=self.shortest_floats), part.to_pylist())
            for part, name in zip(parts, names, strict=True)
        ]
        nothing: JsonValue | Absent = ABSENT if path.tokens else {}
        objects = [inner.document_of_values(cells) or nothing for cells in zip(*exact, strict=True)]
        return [_checked(value) for value in objects], range(rows)


def _encodable(column: Any) -> Any:
    """Widen decimals that Arrow can't encode as they are."""
    narrow = pa.types.is_decimal32(column.type) or pa.types.is_decimal64(column.type)
    return column.cast(pa.decimal128(column.type.precision, column.type.scale)) if narrow else column


def _numbers(indices: Any, *, null: int) -> Sequence[int]:
    """Return indices as Python reads them fastest, with a number of its own for null."""
    filled = pc.fill_null(indices.cast(pa.int32()), null)
    return memoryview(filled.buffers()[1]).cast("i")[filled.offset : filled.offset + len(filled)]


class _Decided(dict[tuple[int, ...], DecisionResult]):
    """Results by the numbers of a row's values, each found when it is first asked for."""

    def __init__(self, generated: GeneratedDecision, values: Sequence[Cells]) -> None:
        super().__init__()
        self._generated = generated
        self._values = values

    def __missing__(self, codes: tuple[int, ...]) -> DecisionResult:
        row = tuple(values[code] for values, code in zip(self._values, codes, strict=True))
        (result,) = self._generated.over_values([row])
        self[codes] = result
        return result


def _below(value: JsonValue | Absent, rest: Pointer) -> JsonValue | Absent:
    return value if isinstance(value, Absent) else rest.resolve(value)


def _is_surely_within(kind: Any) -> bool:
    """Say that no cell of the type can lie beyond the limits of JSON: 128 bits hold 38 digits."""
    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind) or _is_small_decimal(kind))


def _is_small_decimal(kind: Any) -> bool:
    return bool(pa.types.is_decimal128(kind) and abs(kind.scale) <= 38)


def _checked(value: JsonValue | Absent) -> JsonValue | Absent:
    return value if isinstance(value, Absent) else check_exact(value)


def _decided_group(decision: TableDecision, path: Path, group: int) -> tuple[list[DecisionResult], list[int]]:
    """Decide one row group in a process of its own; equal results are sent back once."""
    numbers: dict[DecisionResult, int] = {}
    codes = [
        numbers.setdefault(result, len(numbers))
        for result in decision.over_batches(decision._batches(path, group))  # noqa: SLF001 -- its own other half
    ]
    return list(numbers), codes


__all__ = ["InexactColumn", "TableDecision"]
