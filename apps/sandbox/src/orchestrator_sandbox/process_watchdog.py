"""Stop the sandbox's processes when the sandbox itself has died."""

import subprocess
from pathlib import Path

# Like the database's watchdog: its input closes however the starter ended.
_SCRIPT = """
watched=
while read -r sign process; do
    kept=
    for each in $watched; do [ "$each" = "$process" ] || kept="$kept $each"; done
    watched=$kept
    if [ "$sign" = + ]; then watched="$watched $process"; fi
done
for each in $watched; do kill -TERM "$each" 2>/dev/null; done
turn=0
while [ "$turn" -lt 50 ]; do
    alive=
    for each in $watched; do if kill -0 "$each" 2>/dev/null; then alive=yes; fi; done
    [ -n "$alive" ] || break
    sleep 0.1
    turn=$((turn + 1))
done
for each in $watched; do kill -KILL "$each" 2>/dev/null; done
if [ -n "$1" ]; then rm -rf -- "$1"; fi
"""


class ProcessWatchdog:
    """A small process that outlives its starter just long enough to stop the others.

    The temporary directory, if there is one, is removed then too.
    """

    def __init__(self, temporary_directory: Path | None) -> None:
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "process-watchdog", str(temporary_directory or "")],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            cwd="/",
        )

    def watch(self, process_id: int) -> None:
        self._say(f"+ {process_id}")

    def forget(self, process_id: int) -> None:
        self._say(f"- {process_id}")

    def close(self) -> None:
        """End the watchdog, when every watched process has been stopped and forgotten."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        if self._process.stdin is not None:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
