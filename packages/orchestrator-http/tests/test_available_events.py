"""What a front end is told that may be sent."""

import pytest
from tests.plugins.http_service import API, HttpService, http_service, json_of, problem_of

STRANGER = {"sub": "clerk-3", "business_scopes": ["SOUTH"]}


@pytest.fixture
async def service() -> HttpService:
    ready = http_service()
    await ready.published_flow()
    return ready


async def test_the_reader_s_events_come_with_schema_and_ui(service: HttpService) -> None:
    request_id = await service.created_request()
    answer = await service.call("GET", f"{API}/requests/{request_id}/available-events")
    assert answer.headers["Vary"] == "Authorization"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    no_data = {"type": "object", "additionalProperties": False}
    assert json_of(answer) == {
        "requestId": request_id,
        "state": "OPEN",
        "revision": 0,
        "blockedByExecutionId": None,
        "events": [
            {
                "event": "CHECK",
                "title": None,
                "inputSchema": no_data,
                "tasks": [{"ui": {"component": "FORM", "title": "Check the item"}, "inputSchema": None}],
            },
            {"event": "WITHDRAW", "title": None, "inputSchema": no_data, "tasks": []},
        ],
        "blocked": [],
    }


async def test_a_busy_request_names_its_execution_and_nothing_else(service: HttpService) -> None:
    request_id = await service.created_request()
    accepted = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "k", "If-Match": "*"},
    )
    shown = json_of(await service.call("GET", f"{API}/requests/{request_id}/available-events"))
    assert shown["blockedByExecutionId"] == json_of(accepted)["executionId"]
    assert (shown["events"], shown["blocked"]) == ([], [])


async def test_a_stranger_is_told_of_no_request(service: HttpService) -> None:
    request_id = await service.created_request()
    answer = await service.call("GET", f"{API}/requests/{request_id}/available-events", actor=STRANGER)
    assert problem_of(answer, 404)["code"] == "NOT_FOUND"
