"""What the README names exists, and what it tells to type works."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)
SCRIPTS = [text for kind, text in BLOCKS if kind == "sh"]
EMBEDDED = next(text for kind, text in BLOCKS if kind == "python" and "read_flow" in text)


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
    missing = README.split("\nAnd today:\n")[1].split("\n\n`docs/")[0]
    contract = (ROOT / "contracts" / "openapi.yaml").read_text(encoding="utf-8")
    assert f"\n  {ACTS[act]}:\n" in contract
    assert act not in missing.lower()
