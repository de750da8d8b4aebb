"""`flow validate` and `catalogue check`: places, formats and exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator_service.cli import main

ROOT = Path(__file__).parents[3]
EXAMPLE = str(ROOT / "examples" / "flows" / "credito-v1.json")
CATALOGUE = str(ROOT / "examples" / "catalogue" / "sandbox.json")
INVALID = ROOT / "contracts" / "corpus" / "invalid"
NEED_CONTRACTS = {
    "literal-refused",
    "missing-input",
    "path-outside-schema",
    "unknown-input",
    "unknown-integration",
    "update-never-fits",
}


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A flow file with a misspelt destination."""
    text = Path(EXAMPLE).read_text(encoding="utf-8")
    file = tmp_path / "broken.json"
    file.write_text(text.replace('"N": "PASO_N"', '"N": "PASO_NN"'), encoding="utf-8")
    return file


def findings(said: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(said)["files"][0]["findings"]
    return found


def test_every_example_validates_without_error_or_warning(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(str(file) for file in (ROOT / "examples" / "flows").glob("*.json"))

    code = main(["flow", "validate", *files, "--catalogue", CATALOGUE, "--format", "json"])

    told = json.loads(capsys.readouterr().out)["files"]
    severities = {each["severity"] for file in told for each in file["findings"]}
    assert (code, severities) == (0, {"information"})


def test_a_finding_has_file_line_column_and_suggestion(
    broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flow", "validate", str(broken)]) == 1

    lines = capsys.readouterr().out.splitlines()
    number, text = next(
        (number, line)
        for number, line in enumerate(broken.read_text(encoding="utf-8").splitlines(), 1)
        if "PASO_NN" in line
    )
    column = text.index('"N"') + 1
    finding = next(number for number, line in enumerate(lines) if " error UNKNOWN_STATE " in f" {line}")
    assert lines[finding].startswith(f"{broken}:{number}:{column}: error UNKNOWN_STATE at /transitions/")
    assert lines[finding + 1] == "    suggestion: PASO_N"


def test_what_is_piped_is_plain(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["flow", "validate", str(broken)])

    assert "\x1b" not in capsys.readouterr().out


def test_findings_become_annotations_on_github(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "validate", str(broken), "--format", "github"]) == 1

    errors = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::error ")]
    assert all(f"file={broken},line=" in line for line in errors)
    assert any("title=UNKNOWN_STATE::" in line for line in errors)


def test_without_a_catalogue_and_roles_it_is_said_what_was_not_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["flow", "validate", EXAMPLE, "--format", "json"]) == 0

    assert [each["code"] for each in findings(capsys.readouterr().out)].count("NOT_CHECKED") == 2


def test_roles_that_do_not_exist_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["flow", "validate", EXAMPLE, "--catalogue", CATALOGUE, "--format", "json"]

    assert main([*command, "--roles", "ANALISTA, SOLICITANTE"]) == 0
    assert main([*command, "--roles", "ANALISTA"]) == 1

    said = capsys.readouterr().out.splitlines()[1]
    assert {each["code"] for each in findings(said) if each["severity"] == "error"} == {"UNKNOWN_ROLE"}


@pytest.mark.parametrize("text", ["", '{"a": 1,}', '{"a": 1, "a": 2}', "\ufeff{}"])
def test_a_file_that_is_no_json_ends_with_2_whatever_else_is_found(
    text: str, broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unusable = tmp_path / "unusable.json"
    unusable.write_text(text, encoding="utf-8")

    assert main(["flow", "validate", str(unusable), str(broken)]) == 2

    said = capsys.readouterr().out
    assert said.startswith(f"{unusable}:1:")
    assert "UNKNOWN_STATE" in said


def test_a_file_that_is_not_there_ends_with_2(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")

    assert main(["flow", "validate", missing]) == 2
    assert main(["flow", "diagram", missing]) == 2
    assert main(["flow", "validate", EXAMPLE, "--catalogue", missing]) == 2


def test_every_document_of_the_corpus_is_told_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(INVALID.glob("*.json"))

    code = main(["flow", "validate", *map(str, files), "--roles", "ANALISTA,SOLICITANTE", "--format", "json"])

    told = json.loads(capsys.readouterr().out)["files"]
    without_errors = {
        Path(file["file"]).name.split(".")[0]
        for file in told
        if "error" not in {each["severity"] for each in file["findings"]}
    }
    assert (code, len(told)) == (1, len(files))
    assert without_errors <= NEED_CONTRACTS


def test_a_catalogue_is_checked_without_what_only_a_deployment_has(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROVIDERS_URL", raising=False)

    assert main(["catalogue", "check", CATALOGUE]) == 0
    assert main(["catalogue", "check", CATALOGUE, "--deployed"]) == 1
    assert "PROVIDERS_URL isn't set" in capsys.readouterr().out


def test_certificates_are_looked_at_only_where_a_catalogue_is_deployed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDERS_URL", "https://providers.example")
    text = Path(CATALOGUE).read_text(encoding="utf-8")
    with_authorities = tmp_path / "catalogue.json"
    with_authorities.write_text(
        text.replace('"authentication"', '"authorities": { "file": "/no/such.pem" }, "authentication"', 1),
        encoding="utf-8",
    )

    assert main(["catalogue", "check", str(with_authorities)]) == 0
    assert main(["catalogue", "check", str(with_authorities), "--deployed"]) == 1
    assert "CERTIFICATE at /endpoints/providers/authorities" in capsys.readouterr().out


def test_a_faulty_catalogue_is_told_with_its_places(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faulty = tmp_path / "catalogue.json"
    faulty.write_text(
        Path(CATALOGUE).read_text(encoding="utf-8").replace('"READ_ONLY"', '"READS"', 1), encoding="utf-8"
    )

    assert main(["catalogue", "check", str(faulty)]) == 1
    assert f"{faulty}:18:7: error FORMAT at /integrations/0/effect" in capsys.readouterr().out
    assert main(["flow", "validate", EXAMPLE, "--catalogue", str(faulty)]) == 2
