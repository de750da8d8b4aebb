"""The table for people and the file for machines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.figure import Outcome
from bench.sample import Sample

RESULTS = Path(__file__).parents[1] / ".bench" / "results.json"


def print_outcome(outcome: Outcome) -> None:
    """Print one row: name, ours, the baseline's, the ratio and whether the target is met; spreads in brackets."""
    measured, unit = outcome.measured, outcome.figure.unit
    baseline = ""
    if measured.baseline is not None:
        baseline = f"{measured.baseline_name} {_sample(measured.baseline)} {unit}"
    ratio = "" if outcome.ratio is None else f"{outcome.ratio:.2f}"
    verdict = {True: "met", False: "MISSED", None: ""}[outcome.met]
    print(
        f"{outcome.figure.name:<32} {_sample(measured.value) + ' ' + unit:<34} {baseline:<54}"
        f" {ratio:>8} {outcome.figure.target_text():>8} {verdict}"
    )


def write_results(outcomes: Sequence[Outcome]) -> None:
    """Write the outcomes, keeping those of figures that were not run now."""
    RESULTS.parent.mkdir(exist_ok=True)
    kept = {entry["name"]: entry for entry in _written_before()}
    kept |= {outcome.figure.name: _entry(outcome) for outcome in outcomes}
    RESULTS.write_text(json.dumps(list(kept.values()), ensure_ascii=False, indent=2) + "\n")


def _written_before() -> list[dict[str, Any]]:
    try:
        entries: list[dict[str, Any]] = json.loads(RESULTS.read_text())
    except (FileNotFoundError, ValueError):
        return []
    return entries


def _entry(outcome: Outcome) -> dict[str, Any]:
    measured = outcome.measured
    return {
        "name": outcome.figure.name,
        "unit": outcome.figure.unit,
        "value": measured.value.median,
        "baseline": None if measured.baseline is None else measured.baseline.median,
        "baselineName": measured.baseline_name,
        "ratio": outcome.ratio,
        "target": None if outcome.met is None else outcome.figure.target_text(),
        "met": outcome.met,
    }


def _sample(sample: Sample) -> str:
    return f"{sample.median:.4g} [{sample.lowest:.4g}–{sample.highest:.4g}]"
