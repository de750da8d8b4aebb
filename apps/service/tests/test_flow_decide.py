"""`flow decide`: the rows of a file, each decided as it is alone."""

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.flow.document import read_flow
from orchestrator_service.authoring.sources import UnusableFile
from orchestrator_service.cli import main
from orchestrator_service.decided_rows import decided_rows, rows_expected

FLOW = Path(__file__).parents[3] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"
SCORING = read_flow(parse_json(FLOW.read_bytes())).decisions[0]
DECISION = json.loads(FLOW.read_text(encoding="utf-8"))["decisions"][0]["id"]
SCORES: list[int | Decimal] = [71, Decimal("70.0"), Decimal("61.5"), 60]
ABSENT = {
    "code": "EVALUATION_ERROR",
    "rule": "alto",
    "fault": "ABSENT",
    "pointer": "/results/buro/score",
    "kinds": [],
}

type Decide = Callable[..., tuple[int, Any, list[dict[str, Any]]]]


@pytest.fixture
def decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Decide:
    """Decides a file; returns the exit code, the summary (or what was complained of), and the lines of results."""

    def ran(rows: Path, *arguments: str, decision: str = DECISION) -> tuple[int, Any, list[dict[str, Any]]]:
        out = tmp_path / "results.jsonl"
        command = [
            "flow",
            "decide",
            str(FLOW),
            "--decision",
            decision,
            "--rows",
            str(rows),
            "--out",
            str(out),
        ]
        code = main([*command, "--format", "json", *arguments])
        said = capsys.readouterr()
        lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
        return code, json.loads(said.out) if said.out else said.err, [json.loads(line) for line in lines]

    return ran


def json_lines(path: Path, *texts: str) -> Path:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return path


def scored(score: object) -> str:
    return f'{{"results": {{"buro": {{"score": {score}}}}}}}'


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same scores in each form of file."""
    table = tmp_path / "rows.csv"
    table.write_text(
        "results/buro/score:number,folio\n" + "".join(f"{each},x\n" for each in SCORES), encoding="utf-8"
    )
    columns = tmp_path / "rows.parquet"
    decimals = pa.array([Decimal(each) for each in SCORES], pa.decimal128(9, 2))
    pq.write_table(pa.table({"results/buro/score": decimals}), columns, row_group_size=2)
    return {
        ".jsonl": json_lines(tmp_path / "rows.jsonl", *map(scored, SCORES)),
        ".csv": table,
        ".parquet": columns,
    }


@pytest.mark.parametrize(
    ("form", "processes"),
    [(".jsonl", "1"), (".jsonl", "2"), (".csv", "1"), (".parquet", "1"), (".parquet", "2")],
)
def test_each_row_is_told_in_order_and_all_are_counted(
    files: dict[str, Path], form: str, processes: str, decide: Decide
) -> None:
    code, summary, lines = decide(files[form], "--processes", processes)

    assert code == 0
    assert [(line["row"], line["output"]) for line in lines] == [(1, "N"), (2, "M"), (3, "M"), (4, "MANUAL")]
    assert lines[0] == {"row": 1, "output": "N", "rules": ["alto"], "byDefault": False, "error": None}
    assert lines[3] == {"row": 4, "output": "MANUAL", "rules": [], "byDefault": True, "error": None}
    assert summary == {
        "decision": DECISION,
        "rows": 4,
        "outputs": {"M": 2, "MANUAL": 1, "N": 1},
        "byDefault": 1,
        "rulesHit": {"alto": 1, "medio": 2},
        "errors": {},
    }


def test_a_row_without_an_output_is_told_with_its_fault_and_ends_with_one(
    tmp_path: Path, decide: Decide
) -> None:
    rows = json_lines(tmp_path / "rows.jsonl", scored(71), "", "{}", scored('"71"'), scored(71))

    code, summary, lines = decide(rows)

    assert (code, summary["errors"], summary["outputs"]) == (1, {"EVALUATION_ERROR": 2}, {"N": 2})
    assert (lines[1]["row"], lines[1]["output"], lines[1]["error"]) == (2, None, ABSENT)
    assert lines[2]["error"]["fault"] == "NOT_A_NUMBER"
    assert [line["row"] for line in lines] == [1, 2, 3, 4]


def test_people_are_told_outputs_rules_and_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json_lines(tmp_path / "rows.jsonl", scored(71), scored(1), "{}")

    code = main(["flow", "decide", str(FLOW), "--decision", DECISION, "--rows", str(rows)])

    assert (code, capsys.readouterr().out.splitlines()) == (
        1,
        [
            f"3 rows decided by {DECISION}.",
            "  MANUAL: 1",
            "  N: 1",
            "  rule alto: hit 1 times",
            "  rule medio: never hit",
            "  default: 1 times",
            "  EVALUATION_ERROR: 1",
        ],
    )


def test_a_line_that_holds_no_object_is_told_after_the_results_before_it(
    tmp_path: Path, decide: Decide
) -> None:
    code, said, lines = decide(json_lines(tmp_path / "rows.jsonl", scored(71), "[]", scored(71)))

    assert (code, len(lines)) == (2, 1)
    assert "line 2: A line holds one JSON object." in said


def test_floats_are_refused_unless_their_shortest_decimals_are_wanted(tmp_path: Path, decide: Decide) -> None:
    rows = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"results/buro/score": pa.array([70.1])}), rows)

    code, said, _ = decide(rows)
    assert (code, "which aren't exact" in said) == (2, True)
    assert decide(rows, "--floats", "shortest")[1]["outputs"] == {"N": 1}


@pytest.mark.parametrize(
    "name", ["rows.txt", "gone.jsonl", "gone.csv", "gone.parquet", "broken.parquet", "broken.csv"]
)
def test_a_file_that_can_not_be_used_ends_with_two(name: str, tmp_path: Path, decide: Decide) -> None:
    rows = tmp_path / name
    if not name.startswith("gone"):
        rows.write_bytes(b'a,b\n"')
    code, said, _ = decide(rows)
    assert (code, said.startswith(f"UNUSABLE_FILE: {rows}")) == (2, True)


def test_results_are_never_written_over_the_rows_that_they_come_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json_lines(tmp_path / "rows.jsonl", scored(71))
    linked = tmp_path / "linked.jsonl"
    linked.symlink_to(rows)

    command = ["flow", "decide", str(FLOW), "--decision", DECISION, "--rows", str(rows)]
    assert main([*command, "--out", str(linked)]) == 2
    assert "written over while it is read" in capsys.readouterr().err
    assert rows.read_text(encoding="utf-8") == f"{scored(71)}\n"


def test_a_pipe_is_read_once_whatever_it_is_asked_of(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    os.mkfifo(rows)
    assert rows_expected(rows) == 0

    with ThreadPoolExecutor(1) as writer:
        writing = writer.submit(rows.write_text, "{}\n{}\n", encoding="utf-8")
        results = decided_rows(SCORING, rows, processes=2, shortest_floats=False)
        assert len([*results]) == 2
        writing.result()


def test_a_process_that_is_ended_from_outside_is_told(tmp_path: Path) -> None:
    rows = json_lines(tmp_path / "rows.jsonl", scored(71))
    with pytest.raises(UnusableFile, match="ended from outside"):
        list(decided_rows(cast("Any", EndsItsProcess()), rows, processes=2, shortest_floats=False))


class EndsItsProcess:
    """A definition that ends whichever process it is sent to."""

    def __reduce__(self) -> Any:
        return os._exit, (9,)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_texts_in_columns_that_are_not_utf_8_end_with_two(
    processes: str, tmp_path: Path, decide: Decide
) -> None:
    rows = tmp_path / "rows.parquet"
    octets = pa.array([b"\xff"], pa.binary())
    text = pa.Array.from_buffers(pa.string(), 1, octets.buffers())
    pq.write_table(pa.table({"results/buro/score": text}), rows)

    code, said, _ = decide(rows, "--processes", processes)
    assert (code, said.startswith(f"UNUSABLE_FILE: {rows}")) == (2, True)


def test_the_line_of_a_table_that_is_not_utf_8_is_told(tmp_path: Path, decide: Decide) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_bytes(b"results/buro/score:number,folio\n71,x\n71,\xff\n")
    assert "line 3: The text isn't UTF-8." in decide(rows)[1]


def test_a_decision_that_is_not_there_is_told_with_those_that_are(
    files: dict[str, Path], decide: Decide
) -> None:
    code, said, _ = decide(files[".csv"], decision="OTHER")
    assert (code, said.strip().endswith(f"it has: {DECISION}.")) == (2, True)


@pytest.mark.parametrize("processes", ["0", "65", "-1", "two"])
def test_the_number_of_processes_is_bounded(processes: str, files: dict[str, Path], decide: Decide) -> None:
    with pytest.raises(SystemExit) as ended:
        decide(files[".jsonl"], "--processes", processes)
    assert ended.value.code == 2
