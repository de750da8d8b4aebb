"""Standard output whose faults are told apart from those of the files and sockets that a command works with."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from io import UnsupportedOperation
from pathlib import Path
from typing import Any, TextIO, cast

from orchestrator_domain.errors import OrchestratorError


class OutputUnwritable(OrchestratorError):
    """What a command has to say can't be written where it was told to write it."""

    code = "OUTPUT_UNWRITABLE"


@contextmanager
def told_faults_of_output() -> Iterator[None]:
    """Let whatever can't be printed raise OutputUnwritable, or BrokenPipeError where nobody reads any more.

    After either, what else is printed goes nowhere.
    """
    # Python takes a closed standard output for one that nobody wants; what a command prints is why it was called.
    output = cast("TextIO", _Output(_unwritable() if sys.stdout is None else sys.stdout))
    with redirect_stdout(output):
        try:
            yield
        finally:
            # Of a command that ended otherwise, that is what is told; Python must find nothing left to write.
            with suppress(OutputUnwritable, BrokenPipeError):
                output.flush()


class _Output:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with self._faults_told():
            return self._stream.write(text)

    def flush(self) -> None:
        with self._faults_told():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @contextmanager
    def _faults_told(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            self._write_no_more()
            if isinstance(fault, BrokenPipeError):
                raise
            raise OutputUnwritable(
                f"What the command says can't be written to standard output ({fault.strerror or 'unknown reason'})."
            ) from None

    def _write_no_more(self) -> None:
        """Let what is still to be written go nowhere, or Python would try once more when it ends."""
        with Path(os.devnull).open("wb") as nowhere, suppress(UnsupportedOperation):
            os.dup2(nowhere.fileno(), self._stream.fileno())


def _unwritable() -> TextIO:
    """Return a stream that refuses to be written to, as a descriptor does that isn't open."""
    return os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
