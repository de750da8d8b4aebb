"""`flow diagram`, `diff`, `cases` and `explain`."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from orchestrator_service.cli import main

EXAMPLE = Path(__file__).parents[3] / "examples" / "flows" / "credito-v1.json"


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Write a value into a JSON file and return its path."""

    def written(name: str, value: Any) -> str:
        file = tmp_path / name
        file.write_text(json.dumps(value), encoding="utf-8")
        return str(file)

    return written


@pytest.fixture
def next_version(write: Any) -> str:
    document = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    document["version"] = 2
    high, middle = document["decisions"][2]["rules"]
    high["when"]["right"]["literal"] = middle["when"]["args"][1]["right"]["literal"] = 75
    document["creation"]["inputSchema"]["properties"]["plazoMeses"]["maximum"] = 60
    return str(write("v2.json", document))


@pytest.mark.parametrize(
    ("kind", "start"), [("mermaid", "---\ntitle: "), ("dot", "digraph "), ("svg", "<svg ")]
)
def test_a_flow_is_drawn(kind: str, start: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "diagram", str(EXAMPLE), "--format", kind]) == 0

    drawn = capsys.readouterr().out
    assert drawn.startswith(start)
    if kind == "svg":
        ET.fromstring(drawn)


def test_a_document_that_is_no_flow_can_not_be_drawn(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "diagram", write("none.json", {"schemaVersion": 1})]) == 2
    assert "MISSING_MEMBER" in capsys.readouterr().err


def test_a_version_is_compared_with_examples(next_version: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "diff", str(EXAMPLE), next_version]) == 1

    said = capsys.readouterr().out
    assert "buro.score > 70 and ≤ 75: N → M" in said
    assert "input creation stops being accepted:" in said
    assert 'example: {"plazoMeses":61}' in said


def test_a_comparison_is_written_for_machines_too(
    next_version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flow", "diff", str(EXAMPLE), next_version, "--format", "json"]) == 1

    told = json.loads(capsys.readouterr().out)
    (region,) = told["decisions"][0]["regions"]
    assert (region["before"], region["after"]) == ({"output": "N"}, {"output": "M"})
    assert [(each["place"], each["change"]) for each in told["inputs"]] == [("creation", "stops")]


def test_a_flow_does_not_differ_from_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "diff", str(EXAMPLE), str(EXAMPLE)]) == 0
    assert capsys.readouterr().out == "Nothing differs.\n"


def test_cases_of_one_version_are_run_against_the_next(
    next_version: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flow", "cases", str(EXAMPLE)]) == 0
    cases = tmp_path / "cases.json"
    cases.write_text(capsys.readouterr().out, encoding="utf-8")

    assert main(["flow", "cases", str(EXAMPLE), "--run", str(cases), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["failures"] == []
    assert main(["flow", "cases", next_version, "--run", str(cases), "--format", "text"]) == 1
    assert '{"output":"M"}' in capsys.readouterr().out


def test_a_file_without_cases_can_not_be_run(write: Any) -> None:
    assert main(["flow", "cases", str(EXAMPLE), "--run", write("none.json", {"schemaVersion": 1})]) == 2


REQUEST = {"state": "BURO_PENDIENTE", "data": {"clienteId": "CLI-1"}}
EVENT = {"event": "VALIDAR_BURO", "data": {"consentReference": "R"}, "actor": {"roles": ["ANALISTA"]}}
RESULTS = {"buro": {"score": 65.5, "consultationId": "c"}}


def test_what_decides_is_explained_with_what_another_answer_needs(
    write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--request", write("r.json", REQUEST), "--event", write("e.json", EVENT)]

    assert main(["flow", "explain", str(EXAMPLE), *files, "--results", write("x.json", RESULTS)]) == 0

    said = capsys.readouterr().out
    assert "✗ buro.score > 70: false (buro.score is 65.5)" in said
    assert 'otherwise: {"output":"N"} if buro.score > 70' in said
    assert "It would end in PASO_M with the outcome M" in said


def test_a_refusal_is_explained(write: Any, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--request", write("r.json", {**REQUEST, "data": {}}), "--event", write("e.json", EVENT)]

    assert main(["flow", "explain", str(EXAMPLE), *files, "--format", "json"]) == 1

    told = json.loads(capsys.readouterr().out)
    assert (told["accepted"], told["refusal"]) == (False, "GUARD_NOT_SATISFIED")
    assert told["checks"][-1]["guard"]["answer"] == "false"


@pytest.mark.parametrize("request_file", [[], {"data": {}}, {"state": "X", "data": []}])
def test_a_request_that_is_none_can_not_be_explained(
    request_file: Any, write: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    files = ["--request", write("r.json", request_file), "--event", write("e.json", EVENT)]

    assert main(["flow", "explain", str(EXAMPLE), *files]) == 2
    assert "UNUSABLE_FILE: " in capsys.readouterr().err
