"""The command `orchestrator-sandbox`: what it refuses before it starts anything."""

import json
from pathlib import Path

import pytest

from orchestrator_sandbox.cli import main
from orchestrator_sandbox.examples import found_examples


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["down"],
        ["up", "--api-port", "65536"],
        ["up", "--workers", "-1"],
        ["up", "--workers", "many"],
        ["token"],
        ["token", "--subject", "ana", "--state-dir", "here", "--issuer-url", "http://127.0.0.1:1"],
        ["demo", "--nonsense"],
    ],
)
def test_what_cannot_be_read_is_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2


def test_a_token_without_a_running_sandbox_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "--subject", "ana", "--state-dir", str(tmp_path)]) == 1
    assert "No sandbox runs in" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "[]", "{}", "null"])
def test_a_ready_file_that_no_sandbox_wrote_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str
) -> None:
    (tmp_path / "ready.json").write_text(content)
    assert main(["token", "--subject", "ana", "--state-dir", str(tmp_path)]) == 1
    assert "is not what a sandbox writes" in capsys.readouterr().err


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "not a URL", "http://[", "ftp://127.0.0.1"])
def test_an_issuer_that_does_not_answer_is_told(capsys: pytest.CaptureFixture[str], url: str) -> None:
    assert main(["token", "--subject", "ana", "--issuer-url", url]) == 1
    assert f"No token issuer answers at {url}" in capsys.readouterr().err


def test_a_directory_without_examples_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("up", "demo"):
        assert main([command, "--examples", str(tmp_path)]) == 1
        assert "name their directory with --examples" in capsys.readouterr().err


def test_the_examples_of_the_checkout_are_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    examples = found_examples(None)
    assert json.loads(examples.credit_flow_file.read_text())["flowKey"] == "CREDITO"


def test_the_examples_above_the_current_directory_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (
        "flows/credito-v1.json",
        "flows/credito-v2-licencia.json",
        "flows/compra-v1.json",
        "catalogue/sandbox.json",
    ):
        (tmp_path / "examples" / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "examples" / place).write_text("{}")
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    assert found_examples(None).directory == tmp_path / "examples"
