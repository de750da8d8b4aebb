"""Stop a server whose starter has died."""

import subprocess
from pathlib import Path

from orchestrator_sandbox.server_user import ServerUser

# The shell reads process ids until its input closes, which also happens when the starter is killed. It works
# on every POSIX system, and unlike PR_SET_PDEATHSIG it does not depend on which thread started the server.
_SCRIPT = """
while read -r line; do server=$line; done
if [ -n "$server" ]; then
    kill -INT "$server" 2>/dev/null
    turn=0
    while kill -0 "$server" 2>/dev/null && [ "$turn" -lt 100 ]; do sleep 0.1; turn=$((turn + 1)); done
fi
if [ -n "$1" ]; then rm -rf -- "$1"; fi
"""


class ServerWatchdog:
    """A small process that outlives its starter just long enough to stop the server.

    Once the starter is gone, however it went, the watched server gets SIGINT (PostgreSQL's fast shutdown),
    and the temporary directory, if there is one, is removed.
    """

    def __init__(self, user: ServerUser, temporary_directory: Path | None) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "server-watchdog", str(temporary_directory or "")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd="/",
            **user.child_identity(),
        )

    def watch(self, process_id: int) -> None:
        """Look after this server from now on."""
        self._say(str(process_id))

    def forget(self) -> None:
        """Look after no server: the last one has been stopped."""
        self._say("")

    def close(self) -> None:
        """End the watchdog; its server must have been stopped and forgotten."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
