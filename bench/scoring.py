"""The scoring example of the specification: its decision, its rows, and what a person would write by hand."""

from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.flow.document import read_flow

_FLOW = Path(__file__).parents[1] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"
_HIGH, _LOW = Decimal(70), Decimal(60)


def scoring_decision() -> DecisionDefinition:
    return read_flow(parse_json(_FLOW.read_bytes())).decisions[0]


def scoring_rows(count: int) -> list[dict[str, Any]]:
    """Return rows with exact scores from 0 to 100, two decimals each."""
    drawn = Random(20)
    return [
        {"results": {"buro": {"score": Decimal(drawn.randint(0, 10_000)).scaleb(-2)}}} for _ in range(count)
    ]


def decided_by_hand(row: dict[str, Any]) -> str:
    score = row["results"]["buro"]["score"]
    if score > _HIGH:
        return "N"
    if _LOW < score <= _HIGH:
        return "M"
    return "MANUAL"
