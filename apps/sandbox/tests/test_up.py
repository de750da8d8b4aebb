"""`orchestrator-sandbox up`, run as its users run it."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

COMMAND = [sys.executable, "-m", "orchestrator_sandbox.cli"]
FLOW = Path(__file__).parents[3] / "examples" / "flows" / "credito-v1.json"
START_SECONDS = 120.0


@contextmanager
def sandbox_up(directory: Path) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Run `up` until the end of the block, and give its process and what its ready file says."""
    command = [*COMMAND, "up", "--state-dir", str(directory), "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process, awaited_ready(process, directory / "ready.json")
        finally:
            process.terminate()


def awaited_ready(process: subprocess.Popen[str], ready_file: Path) -> dict[str, Any]:
    """Look for the ready file as a script does: there is no other sign to wait for."""
    deadline = time.monotonic() + START_SECONDS
    while not ready_file.exists():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    ready: dict[str, Any] = json.loads(ready_file.read_text())
    return ready


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


def sent_draft(ready: dict[str, Any], directory: Path) -> httpx2.Response:
    token = run("token", "--state-dir", str(directory), "--subject", "ana", "--role", "FLOW_EDITOR").stdout
    return httpx2.post(
        f"{ready['apiUrl']}/api/v1/admin/flows",
        content=FLOW.read_bytes(),
        headers={"Authorization": f"Bearer {token.strip()}", "Content-Type": "application/json"},
        timeout=30,
        trust_env=False,
    )


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that two sandboxes use one after the other."""
    return tmp_path_factory.mktemp("sandbox") / "state"


def test_up_runs_everything_until_a_signal_and_keeps_the_data(directory: Path) -> None:
    with sandbox_up(directory) as (process, ready):
        assert stat.S_IMODE((directory / "ready.json").stat().st_mode) == 0o600
        assert sent_draft(ready, directory).status_code == 201
        for name, schema_use in (
            ("databaseUrl", True),
            ("migrationDatabaseUrl", True),
            ("retentionDatabaseUrl", True),
        ):
            with psycopg.connect(ready[name]) as connection:
                asked = "SELECT has_schema_privilege('orchestrator', 'USAGE')"
                assert connection.execute(asked).fetchone() == (schema_use,)
        second = run("up", "--state-dir", str(directory))
        assert second.returncode == 1
        assert "A sandbox runs in" in second.stderr
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert f"curl -i {ready['apiUrl']}/api/v1/admin/flows -H 'Authorization: Bearer " in output
    assert output.splitlines()[-1] == "Stopped."
    assert not any(is_alive(each) for each in ready["processes"].values())
    assert not (directory / "ready.json").exists()
    with sandbox_up(directory) as (_, again):
        repeated = sent_draft(again, directory)
    assert repeated.json()["code"] == "DUPLICATE_FLOW_VERSION"


def test_a_part_that_falls_is_told_and_takes_the_rest_with_it(tmp_path: Path) -> None:
    directory = tmp_path / "state"
    with sandbox_up(directory) as (process, ready):
        os.kill(ready["processes"]["worker-1"], signal.SIGKILL)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"worker-1 ended unexpectedly (exit code -9). The end of {directory / 'worker-1.log'}:" in output
    assert not any(is_alive(each) for each in ready["processes"].values())
