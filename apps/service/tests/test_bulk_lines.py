"""Files of JSON Lines are decided alike on any number of processes."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.flow.document import read_flow
from orchestrator_service import bulk_lines
from orchestrator_service.bulk_lines import decide_lines

FLOW = Path(__file__).parents[3] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"
SCORING = read_flow(parse_json(FLOW.read_bytes())).decisions[0]
LINES = [
    ""
    if number % 7 == 3
    else "{}"
    if number % 11 == 5
    else f'{{"results": {{"buro": {{"score": {number}}}}}}}'
    for number in range(120)
]


@pytest.mark.parametrize("processes", [1, 2, 3])
@pytest.mark.parametrize("end", ["", "\n"])
def test_every_line_is_decided_as_alone_and_in_order(processes: int, end: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(LINES) + end, encoding="utf-8")
    evaluator = CompiledDecisionEvaluator()
    contexts = [parse_json(line) for line in LINES if line]
    alone = [evaluator.evaluate(SCORING, context) for context in contexts if isinstance(context, dict)]

    assert list(decide_lines(SCORING, file, processes=processes)) == alone


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_line_that_is_none_is_told_with_its_number_after_the_results_before_it(
    processes: int, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join([*LINES[:90], "[", *LINES[90:]]), encoding="utf-8")
    yielded: list[DecisionResult] = []

    with pytest.raises(MalformedJson) as refusal:
        yielded.extend(decide_lines(SCORING, file, processes=processes))

    assert refusal.value.line == 91
    assert len(yielded) == sum(bool(line) for line in LINES[:90])


def test_a_file_that_has_become_shorter_is_decided_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n{}\n", encoding="utf-8")
    monkeypatch.setattr(bulk_lines, "deciding_processes", ThreadPoolExecutor)
    monkeypatch.setattr(bulk_lines, "_parts", lambda *_: [(0, 3), (3, 600)])

    assert len(list(decide_lines(SCORING, file, processes=2))) == 2


def test_a_file_shorter_than_its_processes_is_decided(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n", encoding="utf-8")
    assert len(list(decide_lines(SCORING, file, processes=3))) == 1
    file.write_text("", encoding="utf-8")
    assert list(decide_lines(SCORING, file, processes=2)) == []
