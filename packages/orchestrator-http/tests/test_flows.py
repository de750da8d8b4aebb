"""Flow versions and request types as their administrators see them."""

from typing import Any

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
TYPE = f"{API}/admin/request-types/LENDING"


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


def unsound_document() -> JsonObject:
    """Return a definition that can be read, with a state that nothing leads to."""
    document = flow_document()
    assert isinstance(document["states"], list)
    document["states"].append({"key": "ISLAND", "terminal": True})
    return document


async def test_a_draft_is_created_with_its_place_and_tag(service: HttpService) -> None:
    answer = await service.call("POST", FLOWS, actor=AUTHOR, body=flow_document())
    created = json_of(answer)
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{FLOWS}/{created['flowId']}"
    assert answer.headers["ETag"] == '"0"'
    assert (created["status"], created["checksum"], created["createdBy"]) == ("DRAFT", None, "author-1")


async def test_a_flow_is_shown_with_its_definition_as_it_was_sent(service: HttpService) -> None:
    flow_id = await draft(service)
    answer = await service.call("GET", f"{FLOWS}/{flow_id}", actor=AUTHOR)
    assert answer.headers["ETag"] == '"0"'
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert json_of(answer)["definition"] == flow_document()


async def test_a_second_draft_of_one_version_is_a_conflict(service: HttpService) -> None:
    await draft(service)
    again = await service.call("POST", FLOWS, actor=AUTHOR, body=flow_document())
    assert problem_of(again, 409)["code"] == "DUPLICATE_FLOW_VERSION"


async def test_what_is_no_flow_is_refused_with_all_findings(service: HttpService) -> None:
    answer = await service.call("POST", FLOWS, actor=AUTHOR, body={"flowKey": "X", "nonsense": 1})
    problem = problem_of(answer, 422)
    assert problem["code"] == "FLOW_INVALID"
    assert isinstance(problem["findings"], list)
    assert len(problem["findings"]) > 1
    first = problem["findings"][0]
    assert isinstance(first, dict)
    assert first.keys() == {"severity", "code", "pointer", "message", "suggestion", "witness"}


async def test_a_sound_draft_is_reported_as_publishable(service: HttpService) -> None:
    answer = await service.call("POST", f"{FLOWS}/{await draft(service)}/validate", actor=AUTHOR)
    assert answer.status_code == 200
    assert json_of(answer)["publishable"] is True


async def test_a_report_with_errors_is_a_good_answer_and_publishing_is_not(service: HttpService) -> None:
    flow_id = await draft(service, unsound_document())
    report = await service.call("POST", f"{FLOWS}/{flow_id}/validate", actor=AUTHOR)
    assert report.status_code == 200
    assert json_of(report)["publishable"] is False
    publication = await service.call("POST", f"{FLOWS}/{flow_id}/publish", actor=AUTHOR)
    assert problem_of(publication, 422)["findings"] == json_of(report)["findings"]


async def test_a_publication_answers_checksum_and_the_next_tag(service: HttpService) -> None:
    answer = await service.call("POST", f"{FLOWS}/{await draft(service)}/publish", actor=AUTHOR)
    assert answer.status_code == 200
    assert answer.headers["ETag"] == '"1"'
    flow = json_of(answer)
    assert flow["status"] == "PUBLISHED"
    assert len(str(flow["checksum"])) == 64


async def test_a_publication_may_be_conditional(service: HttpService) -> None:
    flow_id = await draft(service)
    path = f"{FLOWS}/{flow_id}/publish"
    stale = await service.call("POST", path, actor=AUTHOR, headers={"If-Match": '"3"'})
    assert problem_of(stale, 412)["currentETag"] == '"0"'
    assert (await service.call("POST", path, actor=AUTHOR, headers={"If-Match": '"0"'})).status_code == 200


async def test_a_second_publication_is_a_conflict(service: HttpService) -> None:
    flow_id = await published(service)
    again = await service.call("POST", f"{FLOWS}/{flow_id}/publish", actor=AUTHOR)
    assert problem_of(again, 409)["code"] == "FLOW_NOT_DRAFT"


async def test_a_type_is_created_by_its_first_activation_and_changed_by_its_tag(
    service: HttpService,
) -> None:
    first, second = await published(service), await published(service, version=2)
    activation = f"{TYPE}/active-flow"
    created = await service.call(
        "PUT", activation, actor=AUTHOR, body={"flowId": first}, headers={"If-None-Match": "*"}
    )
    assert (created.status_code, created.headers["ETag"]) == (200, '"0"')
    once_more = await service.call(
        "PUT", activation, actor=AUTHOR, body={"flowId": second}, headers={"If-None-Match": "*"}
    )
    assert problem_of(once_more, 412)["currentETag"] == '"0"'
    changed = await service.call(
        "PUT", activation, actor=AUTHOR, body={"flowId": second}, headers={"If-Match": '"0"'}
    )
    assert (changed.status_code, changed.headers["ETag"]) == (200, '"1"')
    shown = await service.call("GET", TYPE, actor=AUTHOR)
    assert json_of(shown) == {"typeKey": "LENDING", "activeFlowId": second, "enabled": True, "revision": 1}


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 428, "PRECONDITION_REQUIRED"),
        ({"If-None-Match": '"1"'}, 400, "INVALID_HEADER"),
        ({"If-None-Match": "*", "If-Match": "*"}, 400, "INVALID_HEADER"),
        ({"If-Match": '"0"'}, 412, "REVISION_MISMATCH"),
    ],
)
async def test_an_activation_must_say_what_it_expects(
    service: HttpService, headers: dict[str, str], status: int, code: str
) -> None:
    flow_id = await published(service)
    answer = await service.call(
        "PUT", f"{TYPE}/active-flow", actor=AUTHOR, body={"flowId": flow_id}, headers=headers
    )
    assert problem_of(answer, status)["code"] == code


async def test_only_a_published_flow_can_be_activated(service: HttpService) -> None:
    headers, path = {"If-None-Match": "*"}, f"{TYPE}/active-flow"
    unpublished = await service.call(
        "PUT", path, actor=AUTHOR, body={"flowId": await draft(service)}, headers=headers
    )
    assert problem_of(unpublished, 409)["code"] == "FLOW_NOT_PUBLISHED"
    no_id = await service.call("PUT", path, actor=AUTHOR, body={"flowId": "1"}, headers=headers)
    assert problem_of(no_id, 400)["pointer"] == "/flowId"


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("POST", FLOWS, {"FLOW_EDITOR"}),
        ("GET", FLOWS + "/{flow}", {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"}),
        ("POST", FLOWS + "/{flow}/validate", {"FLOW_EDITOR", "FLOW_PUBLISHER"}),
        ("POST", FLOWS + "/{flow}/publish", {"FLOW_PUBLISHER"}),
        ("GET", TYPE, {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"}),
        ("PUT", TYPE + "/active-flow", {"FLOW_ADMIN"}),
    ],
)
async def test_each_administrative_route_is_closed_to_everybody_without_its_permission(
    service: HttpService, method: str, path: str, needed: set[str]
) -> None:
    flow_id = await draft(service)
    bodies: dict[str, Any] = {FLOWS: flow_document(version=2), TYPE + "/active-flow": {"flowId": flow_id}}
    for role in ("FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "EXECUTION_OPERATOR", "AUDITOR", "CLERK"):
        answer = await service.call(
            method,
            path.replace("{flow}", flow_id),
            actor={"roles": [role]},
            body=bodies.get(path, b""),
            headers={"If-None-Match": "*"} if method == "PUT" else {},
        )
        assert (answer.status_code == 403) == (role not in needed), (role, answer.text)
