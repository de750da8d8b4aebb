"""Lists of flow versions and request types, page by page."""

from typing import cast

import pytest
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
from orchestrator_domain.testing.examples import flow_document

FLOWS = f"{API}/admin/flows"


@pytest.fixture
def service() -> HttpService:
    return http_service()


async def draft(service: HttpService, document: JsonObject | None = None) -> str:
    created = await service.call("POST", FLOWS, actor=AUTHOR, body=document or flow_document())
    assert created.status_code == 201, created.text
    return text_member(created, "flowId")


async def published(service: HttpService, *, version: int = 1) -> str:
    flow_id = await draft(service, flow_document(version=version))
    answer = await service.call("POST", f"{FLOWS}/{flow_id}/publish", actor=AUTHOR)
    assert answer.status_code == 200, answer.text
    return flow_id


async def pages(service: HttpService, path: str) -> list[list[JsonObject]]:
    """Follow the cursors of a list to its end."""
    found: list[list[JsonObject]] = []
    cursor = ""
    while True:
        answer = await service.call("GET", path + cursor, actor=AUTHOR)
        assert answer.status_code == 200, answer.text
        assert answer.headers["Cache-Control"] == "private, no-cache"
        page = json_of(answer)
        found.append(cast("list[JsonObject]", page["items"]))
        if page["nextCursor"] is None:
            return found
        cursor = f"&cursor={page['nextCursor']}"


async def test_versions_are_listed_page_by_page_without_their_definitions(service: HttpService) -> None:
    for version in (3, 1, 2):
        await published(service, version=version)
    found = await pages(service, f"{FLOWS}?limit=2")
    assert [[item["version"] for item in page] for page in found] == [[1, 2], [3]]
    assert not any("definition" in item for page in found for item in page)
    assert [len(page) for page in await pages(service, f"{FLOWS}?limit=3")] == [3]


async def test_a_list_of_versions_keeps_to_its_filters(service: HttpService) -> None:
    await published(service)
    await draft(service, flow_document(version=2))
    await draft(service, flow_document(flow_key="RETURNS"))
    for query, expected in (
        ("flowKey=LENDING", [("LENDING", 1), ("LENDING", 2)]),
        ("status=DRAFT", [("LENDING", 2), ("RETURNS", 1)]),
        ("status=DRAFT&flowKey=RETURNS", [("RETURNS", 1)]),
        ("flowKey=NONE", []),
    ):
        found = await pages(service, f"{FLOWS}?limit=1&{query}")
        assert [(item["flowKey"], item["version"]) for page in found for item in page] == expected


async def test_types_are_listed_page_by_page(service: HttpService) -> None:
    flow_id = await published(service)
    for key in ("C", "A", "B"):
        await service.call(
            "PUT",
            f"{API}/admin/request-types/{key}/active-flow",
            actor=AUTHOR,
            body={"flowId": flow_id},
            headers={"If-None-Match": "*"},
        )
    found = await pages(service, f"{API}/admin/request-types?limit=2")
    assert [[item["typeKey"] for item in page] for page in found] == [["A", "B"], ["C"]]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("limit=0", "INVALID_QUERY"),
        ("limit=101", "INVALID_QUERY"),
        ("status=GONE", "INVALID_QUERY"),
        ("flow=LENDING", "INVALID_QUERY"),
        ("cursor=AAAA", "INVALID_CURSOR"),
    ],
)
async def test_a_list_refuses_what_it_can_not_read(service: HttpService, query: str, code: str) -> None:
    assert problem_of(await service.call("GET", f"{FLOWS}?{query}", actor=AUTHOR), 400)["code"] == code


async def test_a_cursor_is_good_for_its_reader_list_and_filter_only(service: HttpService) -> None:
    for version in (1, 2):
        await draft(service, flow_document(version=version))
    page = await service.call("GET", f"{FLOWS}?limit=1", actor=AUTHOR)
    cursor = text_member(page, "nextCursor")
    somebody = {**AUTHOR, "sub": "author-2"}
    types = f"{API}/admin/request-types?limit=1"
    for path, actor in ((f"{FLOWS}?limit=1", somebody), (f"{FLOWS}?status=DRAFT", AUTHOR), (types, AUTHOR)):
        answer = await service.call("GET", f"{path}&cursor={cursor}", actor=actor)
        assert problem_of(answer, 400)["code"] == "INVALID_CURSOR"
