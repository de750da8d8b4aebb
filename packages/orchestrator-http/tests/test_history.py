"""The history of a request, page by page, as far as its reader may see it."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from tests.plugins.http_service import API, HttpService, http_service, json_of, problem_of

from orchestrator_domain.exact_json.value import JsonObject

STRANGER = {"sub": "clerk-3", "business_scopes": ["SOUTH"]}
COLLEAGUE = {"sub": "clerk-2"}
AUDITOR = {"sub": "auditor-1", "roles": ["AUDITOR"]}


@pytest.fixture
async def service() -> HttpService:
    ready = http_service()
    await ready.published_flow()
    return ready


@pytest.fixture
async def request_id(service: HttpService) -> str:
    """A request with two entries."""
    created = await service.created_request()
    await send(service, created)
    return created


async def send(service: HttpService, request_id: str) -> None:
    answer = await service.call(
        "POST",
        f"{API}/requests/{request_id}/events",
        body={"event": "CHECK"},
        headers={"Idempotency-Key": "k", "If-Match": "*"},
    )
    assert answer.status_code == 202


async def page(
    service: HttpService, request_id: str, *, actor: Mapping[str, Any] | None = None, **asked: str
) -> JsonObject:
    query = urlencode({name.rstrip("_"): value for name, value in asked.items()})
    answer = await service.call("GET", f"{API}/requests/{request_id}/history?{query}", actor=actor)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "private, no-cache"
    return json_of(answer)


def entries(shown: JsonObject) -> list[JsonObject]:
    return cast("list[JsonObject]", shown["items"])


async def test_entries_come_in_order_and_without_detail(service: HttpService, request_id: str) -> None:
    shown = await page(service, request_id)
    assert [entry["kind"] for entry in entries(shown)] == ["REQUEST_CREATED", "EVENT_ACCEPTED"]
    assert [entry["sequence"] for entry in entries(shown)] == [1, 2]
    assert shown["nextCursor"] is None
    assert all("detail" not in entry for entry in entries(shown))


async def test_only_an_auditor_of_the_scope_sees_details(service: HttpService, request_id: str) -> None:
    shown = await page(service, request_id, actor=AUDITOR)
    details = [cast("JsonObject", entry["detail"]) for entry in entries(shown)]
    assert details[1]["transitionId"] == "check"
    elsewhere = await service.call(
        "GET", f"{API}/requests/{request_id}/history", actor={**AUDITOR, "business_scopes": ["SOUTH"]}
    )
    assert problem_of(elsewhere, 404)["code"] == "NOT_FOUND"


async def test_no_entry_shows_salts_hashes_or_event_data(service: HttpService, request_id: str) -> None:
    for entry in entries(await page(service, request_id, actor=AUDITOR)):
        assert entry.keys() == {
            "sequence",
            "kind",
            "actor",
            "executionId",
            "flowId",
            "fromState",
            "toState",
            "createdAt",
            "detail",
        }


async def test_pages_go_on_where_they_ended_while_entries_are_added(service: HttpService) -> None:
    request_id = await service.created_request()
    await send(service, request_id)
    first = await page(service, request_id, limit="1")
    second = await page(service, request_id, limit="1", cursor=str(first["nextCursor"]))
    assert [entry["sequence"] for entry in (*entries(first), *entries(second))] == [1, 2]
    assert second["nextCursor"] is None


async def test_a_filter_chooses_entries(service: HttpService, request_id: str) -> None:
    shown = entries(await page(service, request_id))
    moment = str(shown[1]["createdAt"])
    accepted = [shown[1]]
    assert entries(await page(service, request_id, kind="EVENT_ACCEPTED")) == accepted
    assert entries(await page(service, request_id, executionId=str(shown[1]["executionId"]))) == accepted
    assert entries(await page(service, request_id, from_=moment)) == accepted
    assert entries(await page(service, request_id, from_=moment.replace("Z", "+00:00"))) == accepted
    assert entries(await page(service, request_id, to=moment)) == [shown[0]]


@pytest.mark.parametrize(
    ("actor", "more"),
    [(COLLEAGUE, {}), (None, {"kind": "REQUEST_CREATED"}), (None, {"from": "2020-01-01T00:00:00Z"})],
    ids=["another-reader", "another-filter", "a-filter-more"],
)
async def test_a_cursor_is_good_for_its_reader_and_filter_only(
    service: HttpService, request_id: str, actor: Mapping[str, Any] | None, more: Mapping[str, str]
) -> None:
    cursor = str((await page(service, request_id, limit="1"))["nextCursor"])
    query = urlencode({**more, "cursor": cursor})
    answer = await service.call("GET", f"{API}/requests/{request_id}/history?{query}", actor=actor)
    assert problem_of(answer, 400)["code"] == "INVALID_CURSOR"


async def test_a_cursor_of_another_request_is_refused(service: HttpService, request_id: str) -> None:
    other = await service.created_request(key="create-2")
    cursor = (await page(service, request_id, limit="1"))["nextCursor"]
    answer = await service.call("GET", f"{API}/requests/{other}/history?cursor={cursor}")
    assert problem_of(answer, 400)["code"] == "INVALID_CURSOR"


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=101",
        "limit=x",
        "kind=OTHER",
        "kind=",
        "executionId=7",
        "from=yesterday",
        "from=2026-02-30T00:00:00Z",
        "from=2026-10-25",
        "to=2026-10-25T12:00:00",
        "to=2026-10-25T12:00:00.0000001Z",
        "sort=up",
        "limit=1&limit=2",
        "kind=%00",
        "kind=%ff",
    ],
)
async def test_a_query_that_can_t_be_taken_is_one_problem(
    service: HttpService, request_id: str, query: str
) -> None:
    answer = await service.call("GET", f"{API}/requests/{request_id}/history?{query}")
    assert problem_of(answer, 400)["code"] == "INVALID_QUERY"
    assert service.unexpected == []


async def test_a_stranger_is_told_of_no_history(service: HttpService, request_id: str) -> None:
    answer = await service.call("GET", f"{API}/requests/{request_id}/history", actor=STRANGER)
    assert problem_of(answer, 404)["code"] == "NOT_FOUND"
