"""A file of rows and one decision: the result of each row, whatever the file's form."""

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.text import MalformedJson
from orchestrator_domain.exact_json.value import InexactJson
from orchestrator_domain.simulation.bulk import evaluate_many
from orchestrator_service.authoring.case_columns import UnusableColumns
from orchestrator_service.authoring.case_files import open_cases
from orchestrator_service.authoring.sources import UnusableFile
from orchestrator_service.bulk_lines import decide_lines

_BYTES_AT_ONCE: Final = 1 << 20


def decided_rows(
    definition: DecisionDefinition, path: Path, *, processes: int, shortest_floats: bool
) -> Iterator[DecisionResult]:
    """Yield the result of each row of a .jsonl, .csv or .parquet file, in order; empty lines are no rows.

    Raises UnusableFile, once the results before the fault were yielded.
    """
    try:
        match path.suffix:
            case ".jsonl":
                # What is no file of its own, as a pipe, has no parts that could be shared.
                yield from decide_lines(definition, path, processes=processes if path.is_file() else 1)
            case ".csv":
                rows = open_cases(path, shortest_floats=shortest_floats).rows()
                yield from evaluate_many(definition, (row.document for row in rows))
            case ".parquet":
                yield from _of_table(definition, path, processes, shortest_floats=shortest_floats)
            case _:
                raise UnusableFile(path, "Rows end in .jsonl, .csv or .parquet.")
    except BrokenProcessPool:
        message = "A process that decided rows of it was ended from outside; try fewer --processes."
        raise UnusableFile(path, message) from None
    except MalformedJson as fault:
        raise UnusableFile(path, f"line {fault.line}: {fault.message}") from None
    except OSError as fault:
        raise UnusableFile(path, f"The file can't be read ({fault.strerror or fault}).") from None


def rows_expected(path: Path) -> int:
    """Return about how many rows a file has, read as quickly as can be; 0 where that can't be told."""
    if not path.is_file():
        # What a pipe gives is given once.
        return 0
    try:
        if path.suffix == ".parquet":
            import pyarrow.parquet as pq  # type: ignore[import-untyped]  # noqa: PLC0415 -- an extra

            return int(pq.ParquetFile(path).metadata.num_rows)
        with path.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(_BYTES_AT_ONCE), b""))
    except (ImportError, NotImplementedError, OSError, ValueError):
        return 0


def _of_table(
    definition: DecisionDefinition, path: Path, processes: int, *, shortest_floats: bool
) -> Iterator[DecisionResult]:
    try:
        import pyarrow as pa  # noqa: PLC0415 -- an extra

        from orchestrator_service.bulk_decisions import InexactColumn, TableDecision  # noqa: PLC0415 -- as above
    except ModuleNotFoundError:
        message = (
            "Parquet needs pyarrow: install 'orchestrator-service[arrow]', or write the rows as JSON Lines."
        )
        raise UnusableFile(path, message) from None
    table = TableDecision(definition=definition, shortest_floats=shortest_floats)
    try:
        yield from table.over_parquet(path, processes=processes)
    except (InexactColumn, InexactJson, UnusableColumns) as fault:
        raise UnusableFile(path, fault.message) from None
    except (pa.ArrowException, UnicodeDecodeError) as fault:
        raise UnusableFile(
            path, f"The file isn't Parquet that can be read ({type(fault).__name__})."
        ) from None
