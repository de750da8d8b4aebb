"""Calls are told by a bounded name for what came of them, and by nothing that was sent or answered."""

from typing import get_args

import pytest

from orchestrator_worker.observed_calls import answer_name
from orchestrator_worker.provider_answer import (
    Answer,
    CallOutcome,
    HeldBack,
    HoldReason,
    Json,
    NoAnswer,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)

NAMES = (
    (Answer(status=200, body=Json(value={"name": "Juana"})), "200"),
    (Answer(status=599, body=Json(value={})), "599"),
    (Answer(status=999, body=Json(value={})), "other"),
    (NotConnected(), "not_connected"),
    (NoAnswer(), "no_answer"),
    (NotConfigured(), "not_configured"),
    (NotSignedIn(), "not_signed_in"),
    (HeldBack(reason=HoldReason.CIRCUIT_OPEN, retry_after_seconds=1), "circuit_open"),
    (HeldBack(reason=HoldReason.BUSY, retry_after_seconds=1), "integration_busy"),
)


@pytest.mark.parametrize(("outcome", "name"), NAMES, ids=lambda each: str(each)[:20])
def test_what_came_of_a_call_has_one_of_few_names(outcome: CallOutcome, name: str) -> None:
    assert answer_name(outcome) == name


def test_every_outcome_of_a_call_has_a_name() -> None:
    assert {type(outcome) for outcome, _ in NAMES} == set(get_args(CallOutcome.__value__))
