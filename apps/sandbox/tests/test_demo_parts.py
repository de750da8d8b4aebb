"""What the demonstration is made of, without the system that it demonstrates."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator_sandbox.demo.clients import UnexpectedAnswer
from orchestrator_sandbox.demo.patience import Patience, TooLate
from orchestrator_sandbox.demo.quick_catalogue import quick_catalogue
from orchestrator_sandbox.demo.report import JsonReport, StepReport, TableReport
from orchestrator_sandbox.demo.run import told
from orchestrator_sandbox.demo.step import Step
from orchestrator_sandbox.failure import SandboxFailure, StopRequested

EXAMPLES = Path(__file__).parents[3] / "examples"


def step(name: str, act: Callable[[], str]) -> Step:
    return Step(name=name, expected=("as due", "as well"), act=act)


def breaking() -> str:
    raise UnexpectedAnswer("POST /requests was answered 503.")


def test_a_step_agrees_when_it_is_seen_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [
        step("one", lambda: "as due"),
        step("two", lambda: "as well"),
        step("three", lambda: "otherwise"),
    ]
    assert [report.agrees for report in told(steps, JsonReport())] == [True, True, False]
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    shown = [
        (line["step"], line["expected"], line["seen"], line["ok"]) for line in lines if line["kind"] == "step"
    ]
    assert shown[2] == ("three", "as due or as well", "otherwise", False)


def test_after_a_step_that_breaks_off_the_others_are_not_tried() -> None:
    tried: list[str] = []

    def later() -> str:
        tried.append("later")
        return "as due"

    reports = list(told([step("one", breaking), step("two", later)], JsonReport()))
    assert [report.seen for report in reports] == [
        "POST /requests was answered 503.",
        "not tried, after: one",
    ]
    assert not any(report.agrees for report in reports)
    assert tried == []


@pytest.mark.parametrize(
    ("seen", "verdict"), [("as due", "All 1 steps went as expected"), ("otherwise", "1 of 1 steps failed")]
)
def test_the_table_ends_in_a_verdict(capsys: pytest.CaptureFixture[str], seen: str, verdict: str) -> None:
    report = StepReport(name="one", expected=("as due",), seen=seen, seconds=0.1)
    table = TableReport()
    table.begin("one")
    table.step(report)
    table.end([report], 2.5)
    shown = capsys.readouterr().out
    assert f"{verdict}, in 2.5 s." in shown
    assert "\x1b" not in shown


def test_waiting_ends_with_what_was_found() -> None:
    looks = iter([None, None, "found"])
    assert Patience(seconds=20, check=lambda: None).until("It", lambda: next(looks)) == "found"


def test_waiting_is_never_for_ever() -> None:
    with pytest.raises(TooLate, match="It didn't come about in 0 seconds"):
        Patience(seconds=0, check=lambda: None).until("It", lambda: None)


def test_waiting_ends_when_it_has_become_useless() -> None:
    def check() -> None:
        raise StopRequested

    with pytest.raises(StopRequested):
        Patience(seconds=600, check=check).until("It", lambda: None)


def test_the_quick_catalogue_differs_in_what_takes_time_alone(tmp_path: Path) -> None:
    file = EXAMPLES / "catalogue" / "sandbox.json"
    original, quick = json.loads(file.read_text()), json.loads(quick_catalogue(file, tmp_path).read_text())
    asked = [part for part in quick["integrations"] if "probe" in part]
    assert asked
    for part in (*quick["integrations"], quick["documentService"]):
        del part["timeouts"]
    for part in (*asked, *(part for part in original["integrations"] if "probe" in part)):
        part["probe"] = {
            name: value
            for name, value in part["probe"].items()
            if name not in {"askForSeconds", "backoffSeconds"}
        }
    assert quick == original


def test_what_is_no_catalogue_is_not_made_quick(tmp_path: Path) -> None:
    (tmp_path / "letter.json").write_text("[]")
    with pytest.raises(SandboxFailure, match="it is not a catalogue"):
        quick_catalogue(tmp_path / "letter.json", tmp_path)
