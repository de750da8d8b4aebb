"""The sandbox's processes, and the watchdog that outlives the sandbox."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from orchestrator_sandbox.child_process import ChildProcess, inherited_variables
from orchestrator_sandbox.failure import SandboxFailure, StopRequested
from orchestrator_sandbox.process_watchdog import ProcessWatchdog
from orchestrator_sandbox.stopping import Stopping

READY = "print('{\"ready\": true}', flush=True); "
FOR_EVER = "import signal; signal.pause()"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "

type Start = Callable[[str], ChildProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a process that runs a source text."""
    started: list[ChildProcess] = []

    def run(source: str) -> ChildProcess:
        (tmp_path / "started_by_a_test.py").write_text(source)
        child = ChildProcess(
            name="part",
            module="started_by_a_test",
            arguments=(),
            variables={"PYTHONPATH": str(tmp_path)},
            directory=tmp_path,
        )
        started.append(child)
        return child

    yield run
    for child in started:
        child.kill()


def test_a_process_is_ready_when_it_says_so(start: Start) -> None:
    assert start(READY + FOR_EVER).await_ready(Stopping()) == {"ready": True}


def test_a_process_that_ends_first_is_told_with_the_end_of_its_log(start: Start) -> None:
    child = start("import sys; sys.exit('the reason')")
    with pytest.raises(
        SandboxFailure, match=r"part ended before it was ready \(exit code 1\).*part.log:\nthe reason"
    ):
        child.await_ready(Stopping())


def test_a_process_that_says_something_else_is_not_ready(start: Start) -> None:
    with pytest.raises(SandboxFailure, match="said something else than that it is ready"):
        start("print('hello', flush=True); " + FOR_EVER).await_ready(Stopping())


def test_a_signal_ends_the_wait_for_a_process(start: Start) -> None:
    stopping = Stopping()
    stopping.requested.set()
    with pytest.raises(StopRequested):
        start(FOR_EVER).await_ready(stopping)


def test_a_process_that_has_to_succeed_is_told_when_it_fails(start: Start) -> None:
    with pytest.raises(SandboxFailure, match=r"part failed \(exit code 3\)"):
        start("import sys; sys.exit(3)").await_end(Stopping())


def test_a_process_stops_in_order_when_asked(start: Start) -> None:
    child = start(
        "import signal, sys; signal.signal(15, lambda *_: sys.exit(7)); " + READY + "signal.pause()"
    )
    child.await_ready(Stopping())
    child.ask_to_stop()
    child.await_stop(Stopping(), seconds=20)
    assert child.exit_code == 7


def test_a_process_that_does_not_stop_is_killed_when_its_time_is_over(start: Start) -> None:
    child = start(DEAF + READY + "\nwhile True: signal.pause()")
    child.await_ready(Stopping())
    child.ask_to_stop()
    child.await_stop(Stopping(), seconds=0)
    assert child.exit_code == -9


def test_a_second_signal_kills_what_has_not_stopped(start: Start) -> None:
    child = start(DEAF + READY + "\nwhile True: signal.pause()")
    child.await_ready(Stopping())
    urgent = Stopping()
    urgent.urgent.set()
    child.ask_to_stop()
    child.await_stop(urgent, seconds=600)
    assert child.exit_code == -9


def test_the_log_of_an_earlier_start_is_kept(start: Start, tmp_path: Path) -> None:
    for word in ("first", "second"):
        start(f"import sys; sys.stderr.write('{word} ')").await_end(Stopping())
    assert (tmp_path / "part.log").read_text() == "first second "


def test_settings_of_other_services_are_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere")
    monkeypatch.setenv("PYTHONPATH", "here")
    inherited = inherited_variables()
    assert "DATABASE_URL" not in inherited
    assert inherited["PYTHONPATH"] == "here"


def test_a_watchdog_stops_what_it_watches_when_its_starter_is_gone(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    watchdog = ProcessWatchdog(temporary)
    command = [sys.executable, "-c", FOR_EVER]
    with subprocess.Popen(command) as watched, subprocess.Popen(command) as forgotten:
        for process in (watched, forgotten):
            watchdog.watch(process.pid)
        watchdog.forget(forgotten.pid)
        # What its starter's death does too: the watchdog's input closes.
        watchdog.close()
        assert watched.wait(timeout=20) == -15
        assert forgotten.poll() is None
        forgotten.kill()
    assert not temporary.exists()
