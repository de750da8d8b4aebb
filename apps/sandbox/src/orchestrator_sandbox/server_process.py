"""Start the postmaster, wait until it is ready, and kill it with all its children."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from orchestrator_sandbox.server_binaries import unpacked_server_binaries
from orchestrator_sandbox.server_cluster import ServerDidNotStart, server_environment
from orchestrator_sandbox.server_user import ServerUser

START_SECONDS = 30.0


def spawned_postmaster(
    *, home: Path, port: int, settings: Mapping[str, str], user: ServerUser
) -> subprocess.Popen[bytes]:
    """Start a postmaster on the cluster in this directory, which logs to `server.log` beside it."""
    command = [str(unpacked_server_binaries() / "postgres"), "-D", str(home / "cluster"), "-p", str(port)]
    command += [argument for name, value in settings.items() for argument in ("-c", f"{name}={value}")]
    log_file = home / "server.log"
    log_file.touch(mode=0o600)
    user.own(log_file)
    with log_file.open("ab") as log:
        # A session of its own keeps a terminal's Ctrl-C from reaching the server before its clients.
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
            env=server_environment(),
            **user.child_identity(),
        )


def await_ready(server: subprocess.Popen[bytes], home: Path) -> None:
    """Return when the postmaster accepts connections.

    Raises ServerDidNotStart, with the end of the log, when it ends first or stays silent for START_SECONDS.
    """
    deadline = time.monotonic() + START_SECONDS
    while not _is_ready(home / "cluster" / "postmaster.pid", server.pid):
        if server.poll() is not None:
            raise ServerDidNotStart(
                f"PostgreSQL ended with {server.returncode}.\n{_tail(home / 'server.log')}"
            )
        if time.monotonic() > deadline:
            raise ServerDidNotStart(f"PostgreSQL was not ready in time.\n{_tail(home / 'server.log')}")
        time.sleep(0.02)


def _is_ready(postmaster_file: Path, process_id: int) -> bool:
    # pg_ctl waits for the same: the postmaster's id on the first line, its status on the eighth.
    try:
        lines = postmaster_file.read_text().splitlines()
    except FileNotFoundError:
        return False
    return lines[:1] == [str(process_id)] and [line.strip() for line in lines[7:8]] == ["ready"]


def _tail(log_file: Path) -> str:
    return "\n".join(log_file.read_text(errors="replace").splitlines()[-15:])


def kill_with_children(postmaster: subprocess.Popen[bytes]) -> None:
    """Kill the postmaster and each of its processes at once, as a power cut would."""
    # Stopped first, so that it can't give birth between the count and the kill.
    postmaster.send_signal(signal.SIGSTOP)
    for process_id in (postmaster.pid, *_children_of(postmaster.pid)):
        _kill(process_id)


def _children_of(process_id: int) -> list[int]:
    try:
        listing = Path(f"/proc/{process_id}/task/{process_id}/children").read_text()
    except OSError:
        # Elsewhere than on Linux the children notice the death of the postmaster and leave by themselves.
        return []
    return [int(child) for child in listing.split()]


def _kill(process_id: int) -> None:
    try:
        os.kill(process_id, signal.SIGKILL)
    except ProcessLookupError:
        return
