"""Cases: several events in turn, and what is expected of each."""

from typing import Any

import pytest

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import TransitionKey
from orchestrator_domain.simulation.case import Answered, CaseRunner
from orchestrator_domain.simulation.case_reading import read_case
from orchestrator_domain.testing.examples import LOOKUP, flow_document, lookup_contract

RUNNER = CaseRunner(
    flow=ReadyFlow(definition=read_flow(flow_document())),
    contracts={(TransitionKey("check"), LOOKUP): lookup_contract()},
    evaluate=CompiledDecisionEvaluator().evaluate,
    limits=FlowLimits(),
)
MISSING: dict[str, Any] = {"event": "CHECK", "results": {"lookup": {"found": False}}}
FOUND: dict[str, Any] = {"event": "CHECK", "results": {"lookup": {"found": True}}}


def answers(**document: Any) -> tuple[Answered, ...]:
    return RUNNER.answers(read_case({"data": {"item": "saw"}, **document}))


def test_each_event_meets_what_the_one_before_it_left() -> None:
    first, second = answers(events=[MISSING, FOUND])

    assert (first.outcome, first.state) == ("MISSING", "OPEN")
    assert second.scenario.data == {"item": "saw", "lookup": {"found": False}}
    assert (second.outcome, second.state) == ("FOUND", "LENT")


def test_a_refusal_and_a_fault_leave_state_and_data_to_the_next_event() -> None:
    refused, failed, done = answers(
        events=[{"event": "WITHDRAW", "data": {"x": 1}}, {"event": "CHECK"}, {"event": "WITHDRAW"}]
    )

    assert (refused.error, failed.error, done.error) == ("SCHEMA_VIOLATION", "RESULT_MISSING", None)
    assert done.data == {"item": "saw"}
    assert done.state == "WITHDRAWN"


@pytest.mark.parametrize(
    ("expected", "differences"),
    [
        ({}, ()),
        ({"outcome": "FOUND", "state": "LENT"}, ()),
        ({"data": {"item": "saw", "lookup": {"found": True}}}, ()),
        ({"outcome": "MISSING"}, ("outcome: expected MISSING, got FOUND",)),
        ({"state": "OPEN"}, ("state: expected OPEN, got LENT",)),
        ({"data": {}}, ("data: differs from what is expected",)),
        ({"error": "INVALID_EVENT"}, ("error: expected INVALID_EVENT, got none",)),
    ],
)
def test_what_is_not_as_expected_is_told(expected: dict[str, Any], differences: tuple[str, ...]) -> None:
    (answered,) = answers(**FOUND, expected=expected)

    assert answered.differences == differences


def test_an_error_that_was_expected_is_no_difference_and_one_that_was_not_is() -> None:
    (expected,) = answers(event="GONE", expected={"error": "INVALID_EVENT"})
    (unexpected,) = answers(event="GONE", expected={"state": "OPEN"})

    assert expected.differences == ()
    assert unexpected.differences == ("error: expected none, got INVALID_EVENT",)


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({}, "/event"),
        ({"event": 1}, "/event"),
        ({"event": "CHECK", "evnetData": {}}, "/evnetData"),
        ({"event": "CHECK", "state": 1}, "/state"),
        ({"event": "CHECK", "data": []}, "/data"),
        ({"event": "CHECK", "results": {"a/b": 1}}, "/results/a~1b"),
        ({"event": "CHECK", "expected": {"output": "N"}}, "/expected/output"),
        ({"event": "CHECK", "expected": {"data": 1}}, "/expected/data"),
        ({"event": "CHECK", "actor": {"roles": "CLERK"}}, "/actor/roles"),
        ({"event": "CHECK", "actor": {"roles": [1]}}, "/actor/roles/0"),
        ({"event": "CHECK", "actor": "eva"}, "/actor"),
        ({"event": "CHECK", "id": None}, "/id"),
        ({"event": "CHECK", "expected": None}, "/expected"),
        ({"event": "CHECK", "results": []}, "/results"),
        ({"events": {"event": "CHECK"}}, "/events"),
        ({"events": []}, "/events"),
        ({"events": ["CHECK"]}, "/events/0"),
        ({"events": [{"event": "CHECK"}, {"data": {}}]}, "/events/1/event"),
        ({"events": [{"event": "CHECK"}], "event": "CHECK"}, "/event"),
    ],
)
def test_a_document_that_is_no_case_is_refused_with_its_place(document: Any, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_case(document)
    assert refusal.value.pointer == pointer


def test_every_fault_of_a_case_is_told_at_once() -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_case({"id": 1, "events": [{"event": "CHECK", "data": 7}, {"evnet": "CHECK"}]})
    assert [pointer for pointer, _ in refusal.value.violations] == [
        "/id",
        "/events/0/data",
        "/events/1/event",
        "/events/1/evnet",
    ]
    assert "7" not in str(refusal.value.violations)


def test_an_actor_of_the_case_acts() -> None:
    (answered,) = answers(**FOUND, actor={"subject": "eva", "roles": ["GUEST"], "scopes": ["NORTH"]})

    assert answered.error == "ACCESS_DENIED"
    assert answered.scenario.actor.as_context()["scopes"] == ["NORTH"]


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"event": "CHECK", "state": "GONE"}, "/state"),
        (
            {"events": [{"event": "WITHDRAW"}, {"event": "CHECK", "results": {"other": {}}}]},
            "/events/1/results",
        ),
    ],
)
def test_a_case_that_supposes_what_can_not_be_is_refused(document: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        answers(**document)
    assert refusal.value.pointer == pointer
