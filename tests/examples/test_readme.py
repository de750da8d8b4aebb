"""What the README names exists, and what it tells to type works."""

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
SCRIPTS = [text for kind, text in BLOCKS if kind == "sh"]
HAND_DRIVEN = next(script for script in SCRIPTS if script.startswith("api="))
EMBEDDED = next(text for kind, text in BLOCKS if kind == "python" and "read_flow" in text)
# The README's commands have to work with any curl; the test must not depend on one being installed.
CURL = """#!{python}
import argparse, pathlib, sys
import httpx2
parser = argparse.ArgumentParser()
parser.add_argument("-sS", action="store_true")
parser.add_argument("-X")
parser.add_argument("-H", action="append")
parser.add_argument("-d", "--data-binary", dest="data")
parser.add_argument("url")
asked = parser.parse_args()
data = asked.data
if data is not None and data.startswith("@"):
    data = pathlib.Path(data[1:]).read_text()
headers = dict(line.split(": ", 1) for line in asked.H)
method = asked.X or ("GET" if data is None else "POST")
answer = httpx2.request(method, asked.url, headers=headers, content=data, timeout=30, trust_env=False)
with open("{journal}", "a") as journal:
    journal.write(f"{{method}} {{answer.status_code}}\\n")
sys.stdout.write(answer.text)
"""


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(
        re.findall(r"\bmake ([a-z-]+)", "\n".join(SCRIPTS) + "".join(re.findall(r"`[^`\n]+`", README)))
    )
    assert {"demo", "test", "up"} <= named <= targets


@pytest.mark.parametrize(
    ("module", "command"),
    [("orchestrator_sandbox.cli", "orchestrator-sandbox"), ("orchestrator_service.cli", "orchestrator")],
)
def test_every_command_of_the_readme_exists_with_its_options(module: str, command: str) -> None:
    named = re.findall(rf"(?:^|[\s(`/]){command} ([a-z]+)((?:[^\n`)]|\\\n)*)", "\n".join(SCRIPTS))
    assert named
    for subcommand, rest in named:
        action = re.findall(r"^ ([a-z]+)\b", rest) if subcommand in ("flow", "catalogue", "audit") else []
        told = subprocess.run(
            [sys.executable, "-m", module, subcommand, *action, "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == 0, subcommand
        assert [option for option in re.findall(r"--[a-z-]+", rest) if option not in told.stdout] == []


def test_every_file_that_the_readme_names_exists() -> None:
    named = re.findall(r"`((?:docs|contracts|examples|requirements)/[^`*]*|[A-Z]+\.md|LICENSE)`", README)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_embedding_of_the_readme_prints_what_it_says() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", EMBEDDED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.stdout, ran.stderr) == ("N alto\n", "")
    assert "prints `N alto`" in README


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A directory that looks like the checkout to the README's commands, with a sandbox running in it, and its API."""
    directory = tmp_path_factory.mktemp("checkout")
    (directory / "examples").symlink_to(ROOT / "examples")
    programs = directory / ".venv" / "bin"
    programs.mkdir(parents=True)
    for program in ("python", "orchestrator-sandbox"):
        (programs / program).symlink_to(Path(sys.executable).parent / program)
    command = [str(programs / "orchestrator-sandbox"), "up", "--workers", "1"]
    with subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        api = re.search(r"API +(\S+)", "".join(_until_ready(process)))
        assert api is not None
        yield directory, api[1]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


def _until_ready(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line
        if "Ctrl-C" in line:
            return


def test_what_the_readme_tells_to_type_works_once_and_then_says_why_not_again(
    checkout: tuple[Path, str],
) -> None:
    directory, api = checkout
    journal = directory / "journal"
    shim = directory / "bin" / "curl"
    shim.parent.mkdir()
    shim.write_text(CURL.format(python=sys.executable, journal=journal))
    shim.chmod(0o755)

    ran = _typed(directory, api)
    assert ran.stderr == ""
    assert ran.returncode == 0
    assert journal.read_text().split("\n")[:-1] == [
        "POST 201",
        "POST 200",
        "POST 200",
        "PUT 200",
        "POST 201",
        "POST 202",
        "GET 200",
        "GET 200",
    ]

    again = _typed(directory, api)
    assert again.returncode == 1
    assert "DUPLICATE_FLOW_VERSION" in again.stderr
    assert "Traceback" not in again.stderr


def _typed(directory: Path, api: str) -> subprocess.CompletedProcess[str]:
    bash = shutil.which("bash")
    assert bash is not None
    return subprocess.run(
        [bash, "-euo", "pipefail", "-c", HAND_DRIVEN.replace("http://127.0.0.1:8080/api/v1", api)],
        cwd=directory,
        env={"PATH": f"{directory / 'bin'}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


ACTS = {
    "edit": "/api/v1/admin/flows/{flowId}",
    "validat": "/api/v1/admin/flows/{flowId}/validate",
    "simulat": "/api/v1/admin/flows/{flowId}/simulate",
    "retir": "/api/v1/admin/flows/{flowId}/retire",
    "list": "/api/v1/admin/request-types",
    "available": "/api/v1/requests/{requestId}/available-events",
    "history of": "/api/v1/requests/{requestId}/history",
    "resolv": "/api/v1/admin/executions/{executionId}/resolve",
    "documentation": "/docs",
}


@pytest.mark.parametrize("act", ACTS)
def test_nothing_that_the_contract_offers_is_said_to_be_missing(act: str) -> None:
    missing = README.split("## What it doesn't do yet")[1].split("## ")[0]
    contract = (ROOT / "contracts" / "openapi.yaml").read_text(encoding="utf-8")
    assert f"\n  {ACTS[act]}:\n" in contract
    assert act not in missing.lower()
