"""Requests, events and executions as clients see them."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from attrs import evolve
from tests.plugins.http_service import (
    API,
    AUTHOR,
    HttpService,
    http_service,
    json_of,
    problem_of,
    text_member,
)

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.testing.examples import draft_flow, published, request_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_http.views import request_view

NOWHERE = "00000000-0000-7000-8000-000000000000"
STRANGER = {"sub": "clerk-3", "business_scopes": ["SOUTH"]}
COLLEAGUE = {"sub": "clerk-2"}


@pytest.fixture
async def service() -> HttpService:
    ready = http_service()
    await ready.published_flow()
    return ready


async def test_a_request_is_created_with_its_place_and_tag(service: HttpService) -> None:
    answer = await service.call(
        "POST",
        f"{API}/requests",
        body={"typeKey": "LENDING", "data": {"item": "ladder", "deposit": Decimal("12.50")}},
        headers={"Idempotency-Key": "create-1"},
    )
    assert answer.status_code == 201
    created = json_of(answer)
    assert answer.headers["Location"] == f"{API}/requests/{created['requestId']}"
    assert answer.headers["ETag"] == '"0"'
    assert "Idempotent-Replayed" not in answer.headers
    assert {created["typeKey"], created["state"], created["businessScope"]} == {"LENDING", "OPEN", "NORTH"}
    assert created["revision"] == 0
    assert created["activeExecutionId"] is None


async def test_a_creation_answer_holds_no_data_because_a_repeat_could_show_what_is_restricted(
    service: HttpService,
) -> None:
    answer = await service.call(
        "POST",
        f"{API}/requests",
        body={"typeKey": "LENDING", "data": {"item": "ladder"}},
        headers={"Idempotency-Key": "create-1"},
    )
    assert "data" not in json_of(answer)


async def test_a_repeated_creation_answers_the_same_request_and_says_so(service: HttpService) -> None:
    body: JsonObject = {"typeKey": "LENDING", "data": {"item": "ladder"}}
    first = await service.call("POST", f"{API}/requests", body=body, headers={"Idempotency-Key": "create-1"})
    again = await service.call(
        "POST", f"{API}/requests", body=body, headers={"Idempotency-Key": '"create-1"'}
    )
    assert again.status_code == 201
    assert again.headers["Idempotent-Replayed"] == "true"
    assert json_of(again)["requestId"] == json_of(first)["requestId"]


async def test_the_key_of_another_creation_is_a_conflict(service: HttpService) -> None:
    await service.created_request(key="create-1")
    other = await service.call(
        "POST",
        f"{API}/requests",
        body={"typeKey": "LENDING", "data": {"item": "drill"}},
        headers={"Idempotency-Key": "create-1"},
    )
    assert problem_of(other, 409)["code"] == "IDEMPOTENCY_CONFLICT"


async def test_a_request_is_shown_with_exact_numbers_and_for_its_reader_only(service: HttpService) -> None:
    created = await service.call(
        "POST",
        f"{API}/requests",
        body={"typeKey": "LENDING", "data": {"item": "ladder", "deposit": Decimal("12.50")}},
        headers={"Idempotency-Key": "create-1"},
    )
    answer = await service.call("GET", created.headers["Location"])
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"0"'
    assert answer.headers["Vary"] == "Authorization"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert '"deposit":12.50' in answer.text
    shown = json_of(answer)
    assert isinstance(shown["flow"], dict)
    assert (shown["flow"]["flowKey"], shown["flow"]["version"]) == ("LENDING", 1)
    created_at = str(shown["createdAt"])
    assert created_at.endswith("Z")
    assert datetime.fromisoformat(created_at).tzinfo is not None


async def test_head_answers_as_get_without_a_body(service: HttpService) -> None:
    request_id = await service.created_request()
    shown = await service.call("GET", f"{API}/requests/{request_id}")
    head = await service.call("HEAD", f"{API}/requests/{request_id}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["ETag"] == shown.headers["ETag"]
    assert head.headers["Content-Length"] == shown.headers["Content-Length"]


async def test_an_event_is_accepted_with_the_place_of_its_execution(service: HttpService) -> None:
    request_id = await service.created_request()
    answer = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check-1", "If-Match": '"0"'},
    )
    assert answer.status_code == 202
    accepted = json_of(answer)
    assert accepted == {
        "executionId": accepted["executionId"],
        "status": "PENDING",
        "requestId": request_id,
    }
    assert answer.headers["Location"] == f"{API}/executions/{accepted['executionId']}"
    assert answer.headers["Retry-After"] == "1"
    shown = json_of(await service.call("GET", f"{API}/requests/{request_id}"))
    assert (shown["revision"], shown["activeExecutionId"]) == (1, accepted["executionId"])


async def test_a_repeated_event_answers_the_same_execution_even_with_an_old_tag(
    service: HttpService,
) -> None:
    path = f"{API}/requests/{await service.created_request()}/events"
    headers = {"Idempotency-Key": "check-1", "If-Match": '"0"'}
    first = await service.call("POST", path, body={"event": "CHECK"}, headers=headers)
    again = await service.call("POST", path, body={"event": "CHECK"}, headers=headers)
    assert again.status_code == 202
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]


async def test_an_execution_is_shown_without_inputs_actor_lease_or_keys(service: HttpService) -> None:
    request_id = await service.created_request()
    accepted = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check-1", "If-Match": "*"},
    )
    answer = await service.call("GET", accepted.headers["Location"])
    assert answer.status_code == 200
    assert json_of(answer).keys() == {
        "executionId",
        "requestId",
        "event",
        "status",
        "result",
        "errorCode",
        "createdAt",
        "updatedAt",
    }
    assert answer.headers["Retry-After"] == "1"


async def test_a_busy_request_names_the_execution_that_blocks_it(service: HttpService) -> None:
    path = f"{API}/requests/{await service.created_request()}/events"
    first = await service.call(
        "POST", path, body={"event": "CHECK"}, headers={"Idempotency-Key": "one", "If-Match": '"0"'}
    )
    second = await service.call(
        "POST", path, body={"event": "WITHDRAW"}, headers={"Idempotency-Key": "two", "If-Match": '"1"'}
    )
    problem = problem_of(second, 409)
    assert problem["code"] == "REQUEST_BUSY"
    assert problem["blockedByExecutionId"] == json_of(first)["executionId"]


async def test_a_wrong_revision_is_answered_with_the_present_tag(service: HttpService) -> None:
    path = f"{API}/requests/{await service.created_request()}/events"
    answer = await service.call(
        "POST", path, body={"event": "CHECK"}, headers={"Idempotency-Key": "one", "If-Match": '"7", W/"0"'}
    )
    problem = problem_of(answer, 412)
    assert problem["code"] == "REVISION_MISMATCH"
    assert problem["currentETag"] == answer.headers["ETag"] == '"0"'


async def test_an_event_without_if_match_is_asked_to_be_conditional(service: HttpService) -> None:
    path = f"{API}/requests/{await service.created_request()}/events"
    answer = await service.call("POST", path, body={"event": "CHECK"}, headers={"Idempotency-Key": "one"})
    assert problem_of(answer, 428)["code"] == "PRECONDITION_REQUIRED"


@pytest.mark.parametrize("path", ["/requests", "/requests/{id}/events"])
async def test_a_command_without_a_key_is_refused(service: HttpService, path: str) -> None:
    request_id = await service.created_request()
    answer = await service.call(
        "POST",
        API + path.replace("{id}", request_id),
        body={"event": "CHECK", "typeKey": "LENDING"},
        headers={"If-Match": "*"},
    )
    assert problem_of(answer, 400)["code"] == "IDEMPOTENCY_KEY_REQUIRED"


async def test_data_that_breaks_the_schema_is_refused_with_every_place_and_no_value(
    service: HttpService,
) -> None:
    answer = await service.call(
        "POST",
        f"{API}/requests",
        body={"typeKey": "LENDING", "data": {"deposit": "PRIVATE", "score": 99}},
        headers={"Idempotency-Key": "create-1"},
    )
    problem = problem_of(answer, 422)
    assert problem["code"] == "SCHEMA_VIOLATION"
    assert isinstance(problem["violations"], list)
    assert len(problem["violations"]) >= 2
    assert "PRIVATE" not in answer.text
    assert not service.store.requests.rows


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"typeKey": "UNKNOWN"}, 422, "UNKNOWN_REQUEST_TYPE"),
        ({"typeKey": "LENDING", "businessScope": "SOUTH"}, 403, "ACCESS_DENIED"),
        ({"typeKey": "LENDING", "data": {"item": "x" * 300_000}}, 413, "DATA_TOO_LARGE"),
    ],
)
async def test_creations_that_the_use_case_refuses_are_told_by_their_code(
    service: HttpService, body: JsonObject, status: int, code: str
) -> None:
    answer = await service.call(
        "POST",
        f"{API}/requests",
        body=body,
        headers={"Idempotency-Key": "create-1"},
    )
    assert problem_of(answer, status)["code"] == code


async def test_an_actor_of_several_scopes_has_to_name_one(service: HttpService) -> None:
    answer = await service.call(
        "POST",
        f"{API}/requests",
        actor={"business_scopes": ["NORTH", "SOUTH"]},
        body={"typeKey": "LENDING", "data": {"item": "ladder"}},
        headers={"Idempotency-Key": "create-1"},
    )
    problem = problem_of(answer, 422)
    assert (problem["code"], problem["pointer"]) == ("BUSINESS_SCOPE_REQUIRED", "/businessScope")


async def test_what_is_not_visible_cannot_be_told_from_what_does_not_exist(service: HttpService) -> None:
    request_id = await service.created_request()
    accepted = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check-1", "If-Match": "*"},
    )
    execution_id = text_member(accepted, "executionId")
    for kind, hidden in (("requests", request_id), ("executions", execution_id)):
        seen = await service.call("GET", f"{API}/{kind}/{hidden}", actor=STRANGER)
        missing = await service.call("GET", f"{API}/{kind}/{NOWHERE}", actor=STRANGER)
        known, unknown = problem_of(seen, 404), problem_of(missing, 404)
        assert {**known, "correlationId": ""} == {**unknown, "correlationId": ""}
        assert (await service.call("GET", f"{API}/{kind}/{hidden}", actor=COLLEAGUE)).status_code == 200


async def test_an_event_to_an_invisible_request_is_not_found(service: HttpService) -> None:
    request_id = await service.created_request()
    answer = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        actor=STRANGER,
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check-1", "If-Match": "*"},
    )
    assert problem_of(answer, 404)["code"] == "NOT_FOUND"


async def test_an_event_of_an_actor_without_the_role_is_denied(service: HttpService) -> None:
    request_id = await service.created_request()
    answer = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        actor={**AUTHOR, "sub": "clerk-1"},
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "check-1", "If-Match": "*"},
    )
    assert problem_of(answer, 403)["code"] == "ACCESS_DENIED"


async def test_an_unknown_event_is_a_conflict(service: HttpService) -> None:
    request_id = await service.created_request()
    answer = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "DEMOLISH"},
        headers={"Idempotency-Key": "check-1", "If-Match": "*"},
    )
    problem = problem_of(answer, 409)
    assert (problem["code"], problem["pointer"]) == ("INVALID_EVENT", "/event")


def test_a_request_whose_data_was_erased_says_when() -> None:
    identifiers = SequentialIdentifiers()
    request = request_of(published(draft_flow(identifiers)), identifiers)
    erased = evolve(request, data={}, data_erased_at=datetime(2030, 1, 31, 12, tzinfo=UTC))

    assert "dataErasedAt" not in request_view(request, data=request.data, active=None)
    shown = request_view(erased, data=erased.data, active=None)
    assert (shown["data"], shown["dataErasedAt"]) == ({}, "2030-01-31T12:00:00Z")
