"""docs/RECONCILIATION.md shows commands that exist and names what the code knows."""

import re
import shlex
from pathlib import Path

import pytest

from orchestrator_domain.execution.reconciliation import (
    CLOSED_CODE,
    EVIDENCE_REFERENCE_CHARACTERS_MAX,
    EVIDENCE_TEXT_CHARACTERS_MAX,
    ResolutionKind,
)
from orchestrator_http.addresses import BASE_PATH
from orchestrator_service.cli import main

DOCUMENT = (Path(__file__).parents[2] / "docs" / "RECONCILIATION.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line.removeprefix("orchestrator "))
    for block in re.findall(r"```sh\n(.*?)```", DOCUMENT, re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
    if line.startswith("orchestrator ")
]


def test_the_document_shows_each_command() -> None:
    assert {command[1] for command in COMMANDS} == {"list", "show", "resolve"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[1])
def test_a_command_of_the_document_is_understood(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "result.json").write_text("{}")
    monkeypatch.setenv("ORCHESTRATOR_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ORCHESTRATOR_TOKEN", "a-token")
    # Understood, and then nobody answers at that address.
    assert main(command) == 2
    assert "The API doesn't answer" in capsys.readouterr().err


def test_the_document_names_every_resolution_its_bounds_and_its_addresses() -> None:
    for kind in ResolutionKind:
        assert f"| `{kind}` |" in DOCUMENT
    assert f"`{CLOSED_CODE}`" in DOCUMENT
    assert f"up to {EVIDENCE_TEXT_CHARACTERS_MAX} characters" in DOCUMENT
    assert f"(up to {EVIDENCE_REFERENCE_CHARACTERS_MAX})" in DOCUMENT
    assert f"`POST {BASE_PATH}/admin/executions/{{executionId}}/resolve`" in DOCUMENT
