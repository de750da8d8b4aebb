"""Files of cases: JSON Lines, CSV and Parquet, read row by row as exact documents."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, check_exact
from orchestrator_service.authoring.case_columns import CaseColumns, UnusableColumns
from orchestrator_service.authoring.sources import UnusableFile

_ROWS_AT_ONCE: Final = 4096


@frozen(kw_only=True)
class CaseRow:
    """One case as it is written, and where (a line of text or a row of a table, from 1)."""

    place: str
    document: JsonObject


@define(kw_only=True)
class CaseFile:
    """Rows of a file that are read while they are asked for; `done` of `total` is how far that has come."""

    path: Path
    total: int
    _read: Callable[["CaseFile"], Iterator[CaseRow]]
    done: int = field(default=0, init=False)

    def rows(self) -> Iterator[CaseRow]:
        """Yield each row; raise UnusableFile at the first that can't be read."""
        try:
            yield from self._read(self)
        except OSError as fault:
            raise UnusableFile(self.path, f"The file can't be read ({fault.strerror or fault}).") from None


def open_cases(path: Path, *, shortest_floats: bool) -> CaseFile:
    """Return the file by its ending; raise UnusableFile for another ending, or one that isn't there."""
    readers = {".jsonl": _json_lines, ".csv": _csv}
    try:
        size = path.stat().st_size
        if path.suffix == ".parquet":
            from orchestrator_service.authoring.parquet_cases import open_parquet  # noqa: PLC0415 -- needs pyarrow

            total, rows = open_parquet(path, shortest_floats=shortest_floats, at_once=_ROWS_AT_ONCE)
            return CaseFile(path=path, total=total, read=lambda file: _table(file, rows))
    except ModuleNotFoundError:
        message = (
            "Parquet needs pyarrow: install 'orchestrator-service[arrow]', or write the cases as JSON Lines."
        )
        raise UnusableFile(path, message) from None
    except OSError as fault:
        raise UnusableFile(path, f"The file can't be read ({fault.strerror or fault}).") from None
    if path.suffix not in readers:
        raise UnusableFile(path, "Cases end in .jsonl, .csv or .parquet.")
    return CaseFile(path=path, total=size, read=readers[path.suffix])


def _json_lines(file: CaseFile) -> Iterator[CaseRow]:
    with file.path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            file.done += len(line)
            if line.isspace():
                continue
            place = f"line {number}"
            try:
                document = parse_json(line)
            except MalformedJson as fault:
                raise UnusableFile(file.path, f"{place}: {fault.message}") from None
            if not isinstance(document, dict):
                raise UnusableFile(file.path, f"{place}: A case is a JSON object.")
            yield CaseRow(place=place, document=document)


def _csv(file: CaseFile) -> Iterator[CaseRow]:
    with file.path.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(_counted(file, text), strict=True)
        try:
            header = next(reader, None)
            if header is None:
                raise UnusableFile(file.path, "The first line names the columns; there is none.")
            columns = CaseColumns.of_csv(header)
            for cells in reader:
                if cells:
                    yield _csv_row(file, columns, cells, f"line {reader.line_num}")
        except csv.Error as fault:
            message = f"line {reader.line_num}: The text isn't CSV that can be read ({fault})."
            raise UnusableFile(file.path, message) from None
        except UnicodeDecodeError:
            message = f"line {_first_of_other_bytes(file.path)}: The text isn't UTF-8."
            raise UnusableFile(file.path, message) from None
        except UnusableColumns as fault:
            raise UnusableFile(file.path, f"line 1: {fault.message}") from None


def _first_of_other_bytes(path: Path) -> int:
    """Return the number of the first line that isn't UTF-8; text is decoded many lines at once."""
    number = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):  # noqa: B007 -- it is the answer
            try:
                line.decode()
            except UnicodeDecodeError:
                break
    return number


def _counted(file: CaseFile, lines: Any) -> Iterator[str]:
    for line in lines:
        file.done += len(line.encode())
        yield line


def _csv_row(file: CaseFile, columns: CaseColumns, cells: list[str], place: str) -> CaseRow:
    if len(cells) != len(columns.names):
        message = (
            f"{place}: The line has {len(cells)} cells, the first one names {len(columns.names)} columns."
        )
        raise UnusableFile(file.path, message)
    try:
        document = columns.document_of_texts(cells)
        check_exact(document)
    except UnusableColumns as fault:
        raise UnusableFile(file.path, f"{place}: {fault.message}") from None
    except InexactJson as fault:
        raise UnusableFile(file.path, f"{place} at {fault.pointer}: {fault.message}") from None
    return CaseRow(place=place, document=document)


def _table(file: CaseFile, rows: Iterator[JsonObject]) -> Iterator[CaseRow]:
    for document in rows:
        file.done += 1
        place = f"row {file.done}"
        try:
            check_exact(document)
        except InexactJson as fault:
            raise UnusableFile(file.path, f"{place} at {fault.pointer}: {fault.message}") from None
        yield CaseRow(place=place, document=document)
