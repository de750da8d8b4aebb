"""The table of outcomes: status × body × what the contract says."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.plugins.lending_catalogue import LOOKUP, catalogue_file, contract_of, deployed, lookup_integration

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    UnclearRefusal,
)
from orchestrator_worker.answer_meaning import result_of
from orchestrator_worker.provider_answer import (
    Answer,
    Body,
    BodyFault,
    CallOutcome,
    Json,
    NoAnswer,
    NoJson,
    NotConfigured,
    NotConnected,
)
from orchestrator_worker.route import Route

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
GOOD = Json(value={"found": True, "shelf": "4"})
BODIES: list[Body] = [GOOD, Json(value={"found": "yes"}), *(NoJson(fault=fault) for fault in BodyFault)]


def route(**changes: Any) -> Route:
    catalogue = deployed(catalogue_file(lookup_integration(**changes)))
    found = catalogue.route_for(contract_of(catalogue, LOOKUP))
    assert found is not None
    return found


PLAIN = route()


def judged(status: int, body: Body = GOOD, *, by: Route = PLAIN, **headers: str) -> ActionResult:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return result_of(Answer(status=status, headers=named, body=body), by, now=NOW)


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        (NotConnected(), ProvenUnsent()),
        (NoAnswer(), NoWholeAnswer()),
        (NotConfigured(), ProvenUnsent(error_code="INTEGRATION_UNAVAILABLE")),
    ],
)
def test_what_is_no_answer_says_how_far_the_call_came(outcome: CallOutcome, result: ActionResult) -> None:
    assert result_of(outcome, PLAIN, now=NOW) == result


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("status", [401, 403])
def test_a_failed_authentication_is_a_refusal_whatever_it_says(status: int, body: Body) -> None:
    assert judged(status, body) == Refused(error_code="PROVIDER_AUTHENTICATION")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("status", [400, 404, 405, 413, 415, 422])
def test_a_refusal_before_any_effect_is_one_whatever_it_says(status: int, body: Body) -> None:
    assert judged(status, body) == Refused()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("status", [408, 425, 429, 502, 503, 504])
def test_a_transient_status_is_worth_another_attempt_and_proves_nothing(status: int, body: Body) -> None:
    assert judged(status, body) == Transient()


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize(
    "status", [300, 301, 302, 304, 307, 308, 402, 409, 410, 418, 451, 500, 501, 505, 599]
)
def test_any_other_status_is_unclear(status: int, body: Body) -> None:
    assert judged(status, body) == UnclearRefusal()


def test_retry_after_is_passed_on() -> None:
    assert judged(503, retry_after="7") == Transient(retry_after_seconds=7)
    assert judged(429, retry_after="Sun, 01 Mar 2026 12:00:09 GMT") == Transient(retry_after_seconds=9)
    assert judged(503, retry_after="-7") == Transient()


@pytest.mark.parametrize("status", [200, 201, 202, 206])
def test_a_success_within_its_contract_is_a_result(status: int) -> None:
    assert judged(status) == Succeeded(result={"found": True, "shelf": "4"})


def test_members_that_the_contract_does_not_name_are_dropped() -> None:
    body = Json(value={"found": True, "internal": {"id": 1}})
    assert judged(200, body) == Succeeded(result={"found": True})


@pytest.mark.parametrize("fault", list(BodyFault))
def test_a_success_without_usable_json_breaks_the_contract(fault: BodyFault) -> None:
    assert judged(200, NoJson(fault=fault)) == ContractViolated(places=(("", fault),))


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({}, ""),
        ({"shelf": "4"}, ""),
        ({"found": "true"}, "/found"),
        ({"found": 1}, "/found"),
        ({"found": None}, "/found"),
        ({"found": True, "shelf": 4}, "/shelf"),
        ([{"found": True}], ""),
        ("found", ""),
        (None, ""),
    ],
)
def test_a_success_that_breaks_the_output_schema_is_never_a_result(value: JsonValue, place: str) -> None:
    violated = judged(200, Json(value=value))
    assert isinstance(violated, ContractViolated)
    assert [pointer for pointer, _ in violated.places] == [place]


def test_a_broken_contract_is_told_without_values() -> None:
    violated = judged(200, Json(value={"found": "a-secret-value"}))
    assert isinstance(violated, ContractViolated)
    assert "a-secret-value" not in str(violated)


@pytest.mark.parametrize("body", [GOOD, NoJson(fault=BodyFault.MALFORMED), NoJson(fault=BodyFault.EMPTY)])
def test_not_found_is_a_business_answer_only_where_the_contract_says_so(body: Body) -> None:
    meaning = {"404": {"kind": "result", "fields": {"found": {"literal": False}}}}
    assert judged(404, body, by=route(answers=meaning)) == Succeeded(result={"found": False})
    assert judged(404, body) == Refused()


def test_a_result_is_put_together_from_the_places_that_the_contract_names() -> None:
    fields = {"found": {"literal": True}, "shelf": {"answer": "/places/1/name"}}
    mapped = route(answers={"200": {"kind": "result", "fields": fields}})
    body = Json(value={"places": [{"name": "A"}, {"name": "B"}]})
    assert judged(200, body, by=mapped) == Succeeded(result={"found": True, "shelf": "B"})
    assert judged(200, Json(value={"places": []}), by=mapped) == Succeeded(result={"found": True})
    assert isinstance(judged(200, NoJson(fault=BodyFault.EMPTY), by=mapped), ContractViolated)


def test_a_status_means_what_the_contract_says_it_means() -> None:
    written = route(
        answers={
            "409": {"kind": "noEffect"},
            "500": {"kind": "retryable"},
            "503": {"kind": "retryable", "provesNoEffect": True},
        }
    )
    assert judged(409, by=written) == Refused()
    assert judged(500, by=written) == Transient()
    assert judged(503, by=written) == Transient(proves_no_effect=True)
    assert judged(502, by=written) == Transient()


def test_the_provider_reference_is_kept_where_the_contract_says_it_is() -> None:
    referring = route(providerReference="/shelf")
    assert judged(200, by=referring) == Succeeded(
        result={"found": True, "shelf": "4"}, provider_reference="4"
    )
    assert judged(200, Json(value={"found": True, "shelf": "x" * 201}), by=referring) == Succeeded(
        result={"found": True, "shelf": "x" * 201}
    )


def test_nested_members_are_cut_down_too() -> None:
    item = {"type": "object", "additionalProperties": False, "properties": {"id": {"type": "integer"}}}
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "items": {"type": "array", "items": item},
            "first": item,
            "free": {"type": "object"},
            "more": {"type": "object", "properties": {}, "additionalProperties": {"type": "integer"}},
        },
    }
    value: JsonValue = {
        "items": [{"id": 1, "x": 1}, {"x": 1}],
        "first": {"id": 1, "x": 1},
        "free": {"x": 1},
        "more": {"y": 2},
    }
    expected: JsonValue = {
        "items": [{"id": 1}, {}],
        "first": {"id": 1},
        "free": {"x": 1},
        "more": {"y": 2},
    }
    assert judged(200, Json(value=value), by=route(outputSchema=schema)) == Succeeded(result=expected)  # type: ignore[arg-type]
