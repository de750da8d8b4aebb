"""One process of the sandbox: started with a log of its own, ready when it says so, stopped in order."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from orchestrator_sandbox.failure import SandboxFailure
from orchestrator_sandbox.stopping import Stopping

READY_SECONDS = 60.0
_LOOK_SECONDS = 0.02
_TAIL_LINES = 20


class ChildProcess:
    """A Python module run as a process; its first line on stdout is a JSON object that says it is ready.

    What it writes to stderr goes to `<name>.log` in its directory, at the end of what is there.
    """

    def __init__(
        self,
        *,
        name: str,
        module: str,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        directory: Path,
    ) -> None:
        self.name = name
        self.log_file = directory / f"{name}.log"
        self._said_file = directory / f".{name}.said"
        with _private(self.log_file, "ab") as log, _private(self._said_file, "wb") as said:
            # A session of its own keeps a terminal's Ctrl-C for the sandbox, which stops all in order.
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=log,
                env={**inherited_variables(), **variables},
                start_new_session=True,
            )

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return how the process ended, None while it runs."""
        return self._process.poll()

    def await_ready(self, stopping: Stopping) -> dict[str, Any]:
        """Return what the process says once it is ready.

        Raises SandboxFailure, with the end of the log, when it ends first or stays silent for READY_SECONDS.
        """
        deadline = time.monotonic() + READY_SECONDS
        while (said := self._said()) is None:
            stopping.check()
            if self.exit_code is not None:
                raise self.fall("ended before it was ready")
            if time.monotonic() > deadline:
                raise self.fall(f"was not ready after {READY_SECONDS:.0f} seconds")
            time.sleep(_LOOK_SECONDS)
        return said

    def await_end(self, stopping: Stopping) -> None:
        """Return when the process has ended with success; raise SandboxFailure otherwise."""
        deadline = time.monotonic() + READY_SECONDS
        while self.exit_code is None:
            stopping.check()
            if time.monotonic() > deadline:
                raise self.fall(f"was not done after {READY_SECONDS:.0f} seconds")
            time.sleep(_LOOK_SECONDS)
        if self.exit_code != 0:
            raise self.fall("failed")

    def fall(self, what_happened: str) -> SandboxFailure:
        """Return the failure that tells what happened to this process, with the end of its log."""
        code = "" if self.exit_code is None else f" (exit code {self.exit_code})"
        return SandboxFailure(
            f"The process {self.name} {what_happened}{code}. The end of {self.log_file}:\n{self.tail()}"
        )

    def tail(self) -> str:
        """Return the last lines of the log."""
        lines = self.log_file.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        return "\n".join(lines) or "(it is empty)"

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        self._process.send_signal(signal.SIGTERM)

    def await_stop(self, stopping: Stopping, *, seconds: float) -> None:
        """Wait for the end; kill the process when the time is over or the end has become urgent."""
        deadline = time.monotonic() + seconds
        while self.exit_code is None:
            if stopping.urgent.is_set() or time.monotonic() > deadline:
                self.kill()
            time.sleep(_LOOK_SECONDS)

    def kill(self) -> None:
        """Send SIGKILL and wait for the end."""
        self._process.kill()
        self._process.wait()

    def _said(self) -> dict[str, Any] | None:
        line, newline, _ = self._said_file.read_text(errors="replace").partition("\n")
        if not newline:
            return None
        try:
            said = json.loads(line)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            raise self.fall("said something else than that it is ready")
        return said


def inherited_variables() -> dict[str, str]:
    """Return the caller's variables that a process needs to run; whatever configures other services is left out."""
    return {name: value for name, value in os.environ.items() if _is_inherited(name)}


def _is_inherited(name: str) -> bool:
    return name in _INHERITED or name.startswith(("PYTHON", "LC_", "COVERAGE"))


_INHERITED = (
    "PATH",
    "HOME",
    "LANG",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
    "XDG_CACHE_HOME",
)


def _private(path: Path, mode: str) -> BinaryIO:
    path.touch(mode=0o600)
    return path.open(mode)  # type: ignore[return-value]
