"""`flow simulate`: cases from JSON Lines, CSV and Parquet."""

import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.value import ABSENT
from orchestrator_service.cli import main
from orchestrator_service.exact_arrow import InexactColumn, exact_cells

EXAMPLES = Path(__file__).parents[3] / "examples"
FLOW = EXAMPLES / "simulate_offline" / "deposits.json"
HEADER = "event,eventData/value:number,results/lookup/late:number,expected/outcome"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Simulate a file; return the exit code, what was printed, what was complained of, and the lines of `--out`."""

    def ran(cases: Path | str, *arguments: str, suffix: str = ".jsonl", flow: Path = FLOW) -> Any:
        if isinstance(cases, str):
            written = tmp_path / f"cases{suffix}"
            written.write_text(cases, encoding="utf-8")
            cases = written
        out = tmp_path / "out.jsonl"
        command = ["flow", "simulate", str(flow), "--cases", str(cases), "--out", str(out), *arguments]
        code = main(command)
        said = capsys.readouterr()
        lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
        return code, said.out, said.err, [json.loads(line, parse_float=Decimal) for line in lines]

    return ran


@pytest.fixture
def parquet(tmp_path: Path) -> Callable[..., Path]:
    """Write columns into a Parquet file."""

    def written(**columns: Any) -> Path:
        names = [name.replace("__", "/") for name in columns]
        file = tmp_path / "cases.parquet"
        pq.write_table(pa.table(list(columns.values()), names=names), file)
        return file

    return written


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_cases_that_are_as_expected_end_with_zero(kind: str, run: Callable[..., Any]) -> None:
    code, out, err, lines = run(FLOW.parent / f"cases.{kind}")

    assert (code, err) == (0, "")
    assert "4 of 4 with an expectation are as expected." in out
    assert [line["asExpected"] for line in lines] == [True] * 4
    assert lines[2]["events"][0]["data"] == {"late": Decimal("0.2500000001")}


def test_a_mismatch_is_told_with_its_trace_and_ends_with_one(run: Callable[..., Any]) -> None:
    code, out, _, lines = run(f"{HEADER}\nBORROW,100,0.25,NONE\nBORROW,5,0,NONE\n", suffix=".csv")

    assert code == 1
    assert "mismatch line 2, event 1 BORROW\n    outcome: expected NONE, got HALF" in out
    assert "✗ often-late → REFUSE: borrower.late > 0.25 (borrower.late is 0.25)" in out
    assert "1 of 2 with an expectation are as expected." in out
    assert [line["asExpected"] for line in lines] == [False, True]


def test_the_summary_for_machines_counts_outcomes_rules_and_errors(run: Callable[..., Any]) -> None:
    code, out, _, _ = run(
        '{"event": "BORROW", "eventData": {"value": 5}}\n\n{"event": "X"}\n', "--format", "json"
    )

    assert code == 0
    assert json.loads(out) == {
        "cases": 2,
        "withExpectation": 0,
        "mismatches": 0,
        "outcomes": [],
        "rulesHit": [],
        "neverHit": [
            {"decision": "DEPOSIT", "rule": rule} for rule in ("often-late", "valuable", "(default)")
        ],
        "errors": {"EVALUATION_ERROR": 1, "INVALID_EVENT": 1},
    }


def test_a_case_that_expects_nothing_is_neither_right_nor_wrong(run: Callable[..., Any]) -> None:
    *_, lines = run('{"event": "DECLINE"}')
    assert [line["asExpected"] for line in lines] == [None]


def test_results_are_held_to_the_contracts_of_a_catalogue(run: Callable[..., Any]) -> None:
    case: dict[str, Any] = {
        "state": "BURO_PENDIENTE",
        "data": {"clienteId": "C"},
        "event": "VALIDAR_BURO",
        "eventData": {"consentReference": "R"},
        "results": {"buro": {"score": 61}},
    }
    flow = EXAMPLES / "flows" / "credito-v1.json"
    catalogue = ("--catalogue", str(EXAMPLES / "catalogue" / "sandbox.json"))

    *_, loose = run(json.dumps(case), flow=flow)
    *_, held = run(json.dumps(case), *catalogue, flow=flow)
    case["results"]["buro"]["consultationId"] = "c"
    *_, kept = run(json.dumps(case), *catalogue, flow=flow)

    assert [lines[0]["events"][0]["error"] for lines in (loose, held, kept)] == [
        "DATA_SCHEMA_VIOLATION",
        "CONTRACT_VIOLATION",
        None,
    ]
    assert kept[0]["events"][0]["outcome"] == "M"


def test_at_most_twenty_mismatches_are_told_and_all_are_counted(run: Callable[..., Any]) -> None:
    case = '{"event": "DECLINE", "expected": {"state": "LENT"}}\n'
    code, out, _, lines = run(case * 25)

    assert (code, len(lines)) == (1, 25)
    assert out.count("mismatch line") == 20
    assert "… and 5 more" in out


@pytest.mark.parametrize(
    ("suffix", "text", "complaint"),
    [
        (".jsonl", '{"event": "DECLINE"}\n{"event"', "line 2: The text ends"),
        (".jsonl", "[]", "line 1: A case is a JSON object."),
        (
            ".jsonl",
            '{"event": "DECLINE", "data": {}, "evnet": 1}',
            "line 1 at /evnet: There is no such member",
        ),
        (".jsonl", '{"event": "DECLINE", "state": "GONE"}', "line 1 at /state: The flow has no such state."),
        (".csv", "", "names the columns"),
        (".csv", "event,data/a:float\nX,1\n", "line 1: The column 'data/a' ends in no kind of cell"),
        (".csv", "event,data:json,data/a\nX,{},1\n", "line 1: The column 'data/a' lies within another one."),
        (".csv", "event,event\nX,X\n", "lies within another one"),
        (".csv", "event,\nX,X\n", "A column has no name"),
        (".csv", f"{HEADER}\nBORROW,1\n", "line 2: The line has 2 cells, the first one names 4 columns."),
        (".csv", f"{HEADER}\nBORROW,NaN,0,\n", "line 2: In the column 'eventData/value': "),
        (".csv", f"{HEADER}\nBORROW,true,0,\n", "The cell isn't a number."),
        (".csv", "event,data/a:boolean\nDECLINE,yes\n", "The cell is neither true nor false."),
        (".csv", 'event\n"X', "line 2: The text isn't CSV that can be read (unexpected end of data)."),
        (
            ".csv",
            f"event\n{'X' * 140_000}\n",
            "line 2: The text isn't CSV that can be read (field larger than",
        ),
        (".csv", "event,data/a\nDECLINE,a\0b\n", "line 2 at /data/a: A string holds U+0000"),
        (".txt", "", "Cases end in .jsonl, .csv or .parquet."),
        (".parquet", "none", "The file isn't Parquet"),
    ],
)
def test_a_file_that_can_not_be_used_ends_with_two_and_the_place(
    suffix: str, text: str, complaint: str, run: Callable[..., Any]
) -> None:
    code, _, err, _ = run(text, suffix=suffix)

    assert code == 2
    assert err.startswith("UNUSABLE_FILE: ")
    assert complaint in err


def test_cells_are_strings_unless_their_column_says_otherwise(run: Callable[..., Any]) -> None:
    header = "event,data/text,data/number:number,data/yes:boolean,data/list:json,data/none"
    *_, lines = run(f'\ufeff{header}\nDECLINE,7,7.10,true,"[1,null]",\n', suffix=".csv")

    assert lines[0]["events"][0]["data"] == {
        "text": "7",
        "number": Decimal("7.10"),
        "yes": True,
        "list": [1, None],
    }


def test_parquet_columns_are_places_and_nulls_are_absent(
    parquet: Callable[..., Path], run: Callable[..., Any]
) -> None:
    file = parquet(
        event=["BORROW", "DECLINE"],
        eventData__value=pa.array([Decimal("100.00"), None], pa.decimal128(9, 2)),
        results__lookup=[{"late": 0}, None],
        data=[{"tags": ["a", None], "count": 3}, None],
        expected__outcome=pa.array(["HALF", "decline"]).dictionary_encode(),
    )
    code, _, _, lines = run(file)

    assert code == 0
    assert lines[0]["events"][0]["data"] == {"tags": ["a", None], "count": 3, "late": 0}
    assert lines[1]["events"][0]["data"] == {}


def test_float_columns_are_refused_unless_their_shortest_decimals_are_wanted(
    parquet: Callable[..., Path], run: Callable[..., Any]
) -> None:
    file = parquet(
        event=["DECLINE"],
        data__wide=[0.1],
        data__narrow=pa.array([0.1], pa.float32()),
        data__nested=[{"deep": [2.5e-7]}],
    )
    code, _, err, _ = run(file)
    assert (code, "The column 'data/wide' holds floats" in err) == (2, True)

    code, _, _, lines = run(file, "--floats", "shortest")
    assert code == 0
    assert lines[0]["events"][0]["data"] == {
        "wide": Decimal("0.1"),
        "narrow": Decimal("0.1"),
        "nested": {"deep": [Decimal("2.5e-7")]},
    }


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        (pa.array([0], pa.timestamp("us")), "is of type timestamp[us], which JSON doesn't have"),
        (pa.array([float("nan")]), "infinite or none at all"),
    ],
)
def test_what_json_does_not_have_is_refused(
    column: Any, complaint: str, parquet: Callable[..., Path], run: Callable[..., Any]
) -> None:
    code, _, err, _ = run(parquet(event=["DECLINE"], data__x=column), "--floats", "shortest")
    assert (code, complaint in err) == (2, True)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_narrow_float_is_read_as_a_decimal_that_is_that_float(number: float) -> None:
    (cell,) = pa.array([number], pa.float32()).to_pylist()
    shortest = exact_cells(pa.float32(), "x", shortest_floats=True)(cell)

    assert isinstance(shortest, Decimal)
    assert pa.scalar(float(shortest), pa.float32()).as_py() == cell
    assert len(shortest.as_tuple().digits) <= 9


def test_a_null_of_any_column_is_absent_and_a_nested_float_is_refused() -> None:
    kinds = [pa.string(), pa.float64(), pa.list_(pa.int8()), pa.struct([("a", pa.int8())])]
    assert {exact_cells(kind, "x", shortest_floats=True)(None) for kind in kinds} == {ABSENT}
    with pytest.raises(InexactColumn, match="'x/a' holds floats"):
        exact_cells(pa.struct([("a", pa.float64())]), "x")


def test_without_pyarrow_parquet_is_told_how_to_be_read(
    parquet: Callable[..., Path], run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = parquet(event=["DECLINE"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "orchestrator_service.authoring.parquet_cases", raising=False)
    monkeypatch.delitem(sys.modules, "orchestrator_service.exact_arrow", raising=False)

    code, _, err, _ = run(file)

    assert (code, "install 'orchestrator-service[arrow]'" in err) == (2, True)


def test_a_flow_with_errors_or_an_out_file_in_no_directory_can_not_be_used(
    tmp_path: Path, run: Callable[..., Any]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(FLOW.read_text().replace('"initialState": "ASKED"', '"initialState": "GONE"'))
    assert run('{"event": "DECLINE"}', flow=broken)[0] == 2
    assert run('{"event": "DECLINE"}', "--out", str(tmp_path / "none" / "out"))[0] == 2
    assert run(tmp_path / "none.csv")[0] == 2


def test_on_a_terminal_a_bar_shows_how_far_the_file_was_read(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    code, _, err, lines = run(FLOW.parent / "cases.jsonl")

    assert (code, len(lines)) == (0, 4)
    assert "cases.jsonl" in err
