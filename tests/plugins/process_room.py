"""The processes that tests start: each with a log of its own, each ended by its id, whatever happens."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attrs import define, field

from orchestrator_sandbox.child_process import ChildProcess
from orchestrator_sandbox.process_watchdog import ProcessWatchdog
from orchestrator_sandbox.stopping import Stopping

END_SECONDS = 20.0
SERVICE = "orchestrator_service.cli"


@define(kw_only=True)
class StartedProcess:
    """A process of the room, and what it said once it was ready."""

    child: ChildProcess
    said: Mapping[str, Any] = field(factory=dict)

    @property
    def pid(self) -> int:
        return self.child.process_id

    def log(self) -> str:
        """Return all that it has written to its log."""
        return self.child.log_file.read_text(errors="replace")

    def end(self) -> int:
        """Ask it to stop in order, and return how it ended."""
        self.child.ask_to_stop()
        return self.ended()

    def ended(self) -> int:
        """Wait for its end, and return how it ended."""
        self.child.await_stop(Stopping(), seconds=END_SECONDS)
        code = self.child.exit_code
        assert code is not None, "it has ended"
        return code


@define(kw_only=True)
class ProcessRoom:
    """Start Python modules as processes, and end those that still run when the room closes."""

    directory: Path
    _started: list[StartedProcess] = field(factory=list, init=False)
    _watchdog: ProcessWatchdog = field(factory=lambda: ProcessWatchdog(None), init=False)

    def launch(
        self, module: str, *arguments: str, variables: Mapping[str, str] = MappingProxyType({})
    ) -> StartedProcess:
        """Start a process without waiting for it."""
        name = f"{len(self._started) + 1:03d}-{module.rpartition('.')[2]}"
        child = ChildProcess(
            name=name, module=module, arguments=arguments, variables=variables, directory=self.directory
        )
        return self.take(child)

    def take(self, child: ChildProcess) -> StartedProcess:
        """Look after a process that somebody else has started."""
        self._watchdog.watch(child.process_id)
        self._started.append(StartedProcess(child=child))
        return self._started[-1]

    def ready(self, process: StartedProcess) -> StartedProcess:
        """Wait until a process says that it is ready; raise SandboxFailure with the end of its log if it doesn't."""
        process.said = process.child.await_ready(Stopping())
        return process

    def start(
        self, module: str, *arguments: str, variables: Mapping[str, str] = MappingProxyType({})
    ) -> StartedProcess:
        return self.ready(self.launch(module, *arguments, variables=variables))

    def end(self, process: StartedProcess) -> None:
        """Kill a process if it still runs; it may be one that was stopped by a signal."""
        if process.child.exit_code is None:
            process.child.kill()
        self._watchdog.forget(process.pid)

    def close(self) -> None:
        for process in reversed(self._started):
            self.end(process)
        self._watchdog.close()

    def tails(self) -> str:
        """Return the end of every log, for whoever reads about a failed test."""
        return "\n".join(f"--- {each.child.name}\n{each.child.tail()}" for each in self._started)
