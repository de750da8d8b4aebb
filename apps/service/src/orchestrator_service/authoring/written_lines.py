"""A file that a command writes line by line, while it reads others."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from orchestrator_service.authoring.sources import UnusableFile


@contextmanager
def written_lines(path: Path | None, *, read: Path) -> Iterator[IO[str] | None]:
    """Open the file that was asked for, if any; raise UnusableFile where it can't be written, or is being read."""
    if path is None:
        yield None
        return
    try:
        # Opening it would empty it before its first row is read.
        if path.exists() and path.samefile(read):
            raise UnusableFile(path, "The file would be written over while it is read; name another one.")
        with path.open("w", encoding="utf-8") as out:
            yield out
    except OSError as fault:
        raise UnusableFile(path, f"The file can't be written ({fault.strerror or fault}).") from None
