"""Cases in Parquet files. Needs pyarrow, the extra `arrow` of this package."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]  # it comes without types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # as above

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_service.authoring.case_columns import CaseColumns, UnusableColumns
from orchestrator_service.authoring.sources import UnusableFile
from orchestrator_service.exact_arrow import InexactColumn, exact_cells


def open_parquet(path: Path, *, shortest_floats: bool, at_once: int) -> tuple[int, Iterator[JsonObject]]:
    """Return how many rows there are and the document of each; raise UnusableFile, for columns at once."""
    try:
        file = pq.ParquetFile(path)
        columns = CaseColumns.of_names(file.schema_arrow.names)
        exact = [
            exact_cells(kind, name, shortest_floats=shortest_floats)
            for name, kind in zip(file.schema_arrow.names, file.schema_arrow.types, strict=True)
        ]
    except pa.ArrowException as fault:
        raise UnusableFile(
            path, f"The file isn't Parquet that can be read ({type(fault).__name__})."
        ) from None
    except (InexactColumn, UnusableColumns) as fault:
        raise UnusableFile(path, fault.message) from None

    def rows() -> Iterator[JsonObject]:
        try:
            for batch in file.iter_batches(batch_size=at_once):
                cells = [
                    map(make, column.to_pylist()) for make, column in zip(exact, batch.columns, strict=True)
                ]
                for values in zip(*cells, strict=True):
                    yield columns.document_of_values(values)
        except InexactColumn as fault:
            raise UnusableFile(path, fault.message) from None
        except (pa.ArrowException, UnicodeDecodeError) as fault:
            raise UnusableFile(path, f"The file can't be read to its end ({type(fault).__name__}).") from None

    return file.metadata.num_rows, rows()
