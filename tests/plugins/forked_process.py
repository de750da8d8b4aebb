"""Service processes that are forked from a warm one: real processes of their own, started in a moment."""

import json
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from tests.plugins.process_room import ProcessRoom, StartedProcess

from orchestrator_sandbox.child_process import ChildProcess

_LOOK_SECONDS = 0.005
_ROOT = Path(__file__).parents[2]


@frozen(kw_only=True)
class _Forked:
    """What `subprocess.Popen` is to a child of this process, for a child of the warm one."""

    warm_start: "WarmStart"
    pid: int

    def poll(self) -> int | None:
        code: int | None = self.warm_start.asked({"ended": self.pid})
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def wait(self) -> int:
        while (code := self.poll()) is None:
            time.sleep(_LOOK_SECONDS)
        return code


class ForkedProcess(ChildProcess):
    """A child of the warm process, with the log and the first line of any other."""

    def __init__(
        self, *, name: str, warm_start: "WarmStart", variables: Mapping[str, str], release: str | None
    ) -> None:
        self.name = name
        self.log_file = warm_start.directory / f"{name}.log"
        self._said_file = warm_start.directory / f".{name}.said"
        for file in (self.log_file, self._said_file):
            file.touch(mode=0o600)
        order = {
            "variables": dict(variables),
            "release": release,
            "log": str(self.log_file),
            "said": str(self._said_file),
        }
        self._process = _Forked(warm_start=warm_start, pid=warm_start.asked(order))  # type: ignore[assignment]


@define(kw_only=True)
class WarmStart:
    """Start service processes in a room by forking."""

    room: ProcessRoom
    directory: Path
    warm: StartedProcess
    _started: int = field(default=0, init=False)

    @classmethod
    def prepared(cls, room: ProcessRoom, directory: Path) -> "WarmStart":
        """Start the warm process."""
        warm = room.start("tests.plugins.warm_start", variables={"PYTHONPATH": str(_ROOT)})
        return cls(room=room, directory=directory, warm=warm)

    def launch(self, variables: Mapping[str, str], *, release: str | None = None) -> StartedProcess:
        """Start a process without waiting for it; `release` names a module that makes it another release."""
        self._started += 1
        name = f"forked-{self._started:04d}"
        child = ForkedProcess(name=name, warm_start=self, variables=variables, release=release)
        return self.room.take(child)

    def start(self, variables: Mapping[str, str]) -> StartedProcess:
        return self.room.ready(self.launch(variables))

    def asked(self, order: Mapping[str, Any]) -> Any:
        address = ("127.0.0.1", self.warm.said["port"])
        with socket.create_connection(address) as asking, asking.makefile("rw") as lines:
            lines.write(json.dumps(order) + "\n")
            lines.flush()
            return json.loads(lines.readline())
