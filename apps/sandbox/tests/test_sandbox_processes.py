"""The issuer and the doubles as the processes that they are run as."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx2
import pytest


@pytest.fixture(params=["orchestrator_sandbox.token_issuer", "orchestrator_sandbox.providers"])
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", request.param, "--host", "127.0.0.1", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        yield running
        running.kill()


def ready_url(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return str(json.loads(process.stdout.readline())["url"])


def test_a_process_says_where_it_listens_and_answers_there(process: subprocess.Popen[str]) -> None:
    url = ready_url(process)
    assert url.startswith("http://127.0.0.1:")
    answers = [
        httpx2.get(url + path, trust_env=False).status_code for path in ("/jwks.json", "/control/calls")
    ]
    assert 200 in answers


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_process_ends_on_a_signal_without_complaint(
    process: subprocess.Popen[str], stop: signal.Signals
) -> None:
    ready_url(process)
    process.send_signal(stop)
    _, complaints = process.communicate(timeout=20)
    assert complaints == ""
    assert process.returncode == 0
