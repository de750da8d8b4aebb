"""The directory that a sandbox keeps its data, logs and addresses in."""

import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from orchestrator_sandbox.failure import SandboxFailure
from orchestrator_sandbox.server_user import ServerUser, server_user

DEFAULT = Path(".sandbox")
_MARK = "orchestrator-sandbox"


@frozen(kw_only=True)
class StateDirectory:
    """A directory of the sandbox's own, claimed by one process at a time."""

    path: Path
    temporary: bool = False

    @property
    def ready_file(self) -> Path:
        return self.path / "ready.json"

    def announce(self, document: Mapping[str, Any]) -> None:
        """Write `ready.json`, whole or not at all, for its owner alone: it holds passwords."""
        draft = self.path / ".ready.json"
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(document, indent=2) + "\n")
        draft.replace(self.ready_file)

    def withdraw(self) -> None:
        """Remove `ready.json`: nothing runs here."""
        self.ready_file.unlink(missing_ok=True)

    def kept_logs(self) -> Path:
        """Copy the logs to a new directory that outlives this one, and return it."""
        kept = Path(tempfile.mkdtemp(prefix=f"{_MARK}-logs-"))
        for log_file in self.path.glob("*.log"):
            shutil.copy(log_file, kept)
        return kept

    def database_directory(self) -> Path | None:
        """Name the directory that keeps the database, None for one that goes with the server.

        It lies here, unless the user that runs the server can't come here (as in the home of root): then it
        is beside the system's temporary files, under a name that this directory remembers.
        """
        if self.temporary:
            return None
        note = self.path / "database-directory"
        if note.exists():
            return Path(note.read_text().strip())
        here = self.path / "database"
        if here.exists() or _can_reach(server_user(), self.path):
            return here
        elsewhere = Path(tempfile.mkdtemp(prefix=f"{_MARK}-", dir="/var/tmp"))
        note.write_text(f"{elsewhere}\n")
        return elsewhere


@contextmanager
def claimed_directory(path: Path) -> Iterator[StateDirectory]:
    """Claim a directory that is new, empty or a sandbox's, until the end of the block.

    Raises SandboxFailure for any other directory, and while another sandbox runs in it.
    """
    directory = path.absolute()
    _make(directory)
    with (directory / "lock").open("a+") as lock:
        _lock(lock.fileno(), directory)
        state = StateDirectory(path=directory)
        state.withdraw()
        try:
            yield state
        finally:
            state.withdraw()


@contextmanager
def temporary_directory() -> Iterator[StateDirectory]:
    """Make a directory that is removed at the end of the block."""
    directory = Path(tempfile.mkdtemp(prefix=f"{_MARK}-"))
    try:
        yield StateDirectory(path=directory, temporary=True)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / _MARK).exists():
            _mark(directory)
    except OSError as error:
        raise SandboxFailure(
            f"{directory} can't be used: {error.strerror}. Name another directory with --state-dir."
        ) from error


def _mark(directory: Path) -> None:
    if any(directory.iterdir()):
        raise SandboxFailure(
            f"{directory} holds files that no sandbox wrote: name a new or empty directory with --state-dir."
        )
    # Logs and keys are readable by their owner only; the server of root's sandbox has to pass through.
    directory.chmod(0o711 if os.getuid() == 0 else 0o700)
    (directory / _MARK).write_text("This directory belongs to orchestrator-sandbox; remove it as a whole.\n")


def _lock(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SandboxFailure(
            f"A sandbox runs in {directory} already: stop it, or name another directory with --state-dir."
        ) from None


def _can_reach(user: ServerUser, directory: Path) -> bool:
    question = ["/bin/sh", "-c", 'cd "$1"', "reach", str(directory)]
    answer = subprocess.run(question, check=False, capture_output=True, cwd="/", **user.child_identity())
    return answer.returncode == 0
