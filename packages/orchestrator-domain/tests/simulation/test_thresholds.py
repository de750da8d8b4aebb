"""Shares of outcomes over a literal that moves."""

from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.simulation.thresholds import outcome_shares, threshold_at

FLOW = Path(__file__).parents[4] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"
DOCUMENT = cast("JsonObject", parse_json(FLOW.read_bytes()))
HIGH = Pointer.parse("/decisions/0/rules/0/when/right/literal")
MIDDLE = Pointer.parse("/decisions/0/rules/1/when/args/1/right/literal")
CONTEXTS: list[Any] = [{"results": {"buro": {"score": score}}} for score in (60, 65, 70, 75, 80)]


@pytest.mark.parametrize(
    ("value", "shares"),
    [
        (70, {"N": 2, "M": 2, "MANUAL": 1}),
        (Decimal("64.99"), {"N": 4, "MANUAL": 1}),
        (100, {"M": 4, "MANUAL": 1}),
    ],
)
def test_literals_move_together_and_outputs_are_counted(value: Any, shares: dict[str, int]) -> None:
    threshold = threshold_at(DOCUMENT, [HIGH, MIDDLE])

    assert outcome_shares(threshold, value, CONTEXTS) == shares
    assert parse_json(FLOW.read_bytes()) == DOCUMENT


def test_a_literal_moved_alone_may_make_rules_overlap_and_errors_are_counted_too() -> None:
    threshold = threshold_at(DOCUMENT, [HIGH])

    assert outcome_shares(threshold, 60, [*CONTEXTS, {}]) == {
        "AMBIGUOUS_DECISION": 2,
        "N": 2,
        "MANUAL": 1,
        "EVALUATION_ERROR": 1,
    }


@pytest.mark.parametrize(
    "places",
    [
        ["/version"],
        ["/decisions/0/rules/0/when/right"],
        ["/decisions/0/rules/0/output"],
        ["/decisions/9/rules/0/when/right/literal"],
        [str(HIGH), "/version"],
    ],
)
def test_what_is_no_numeric_literal_of_one_decision_is_refused(places: list[str]) -> None:
    with pytest.raises(InvalidInput):
        threshold_at(DOCUMENT, [Pointer.parse(place) for place in places])
