"""Flow versions and request types as their administrators see them."""

from typing import Any, cast

import httpx2
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

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.testing.examples import flow_document

FLOWS = f"{API}/admin/flows"
TYPES = f"{API}/admin/request-types"
TYPE = f"{TYPES}/LENDING"


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


TITLED: JsonObject = {**flow_document(), "title": "Lending"}


async def edit(
    service: HttpService, flow_id: str, document: JsonObject, tag: str | None = None
) -> httpx2.Response:
    headers = {} if tag is None else {"If-Match": tag}
    return await service.call("PUT", f"{FLOWS}/{flow_id}", actor=AUTHOR, body=document, headers=headers)


async def test_an_edited_draft_is_shown_as_it_was_sent_under_the_next_tag(service: HttpService) -> None:
    flow_id = await draft(service)
    answer = await edit(service, flow_id, TITLED, '"0"')
    assert (answer.status_code, answer.headers["ETag"]) == (200, '"1"')
    assert (json_of(answer)["status"], json_of(answer)["revision"]) == ("DRAFT", 1)
    shown = await service.call("GET", f"{FLOWS}/{flow_id}", actor=AUTHOR)
    assert (json_of(shown)["definition"], shown.headers["ETag"]) == (TITLED, '"1"')


async def test_an_edit_must_name_what_it_read(service: HttpService) -> None:
    flow_id = await draft(service)
    assert problem_of(await edit(service, flow_id, TITLED), 428)["code"] == "PRECONDITION_REQUIRED"
    assert (await edit(service, flow_id, TITLED, '"0"')).status_code == 200
    stale = await edit(service, flow_id, TITLED, '"0"')
    assert problem_of(stale, 412)["currentETag"] == stale.headers["ETag"] == '"1"'
    assert problem_of(await edit(service, flow_id, TITLED, 'W/"1"'), 412)["code"] == "REVISION_MISMATCH"


async def test_an_edit_keeps_key_and_version(service: HttpService) -> None:
    answer = await edit(service, await draft(service), flow_document(version=2), "*")
    (finding,) = cast("list[dict[str, Any]]", problem_of(answer, 422)["findings"])
    assert (finding["code"], finding["pointer"]) == ("IDENTITY_CHANGED", "/version")


@pytest.mark.parametrize("tag", ["*", '"0"', '"1"'])
async def test_what_was_published_is_not_edited_whatever_its_tag(service: HttpService, tag: str) -> None:
    answer = await edit(service, await published(service), TITLED, tag)
    assert problem_of(answer, 409)["code"] == "FLOW_NOT_DRAFT"


async def test_an_unknown_flow_is_neither_edited_nor_retired(service: HttpService) -> None:
    unknown = "00000000-0000-7000-8000-000000000000"
    assert problem_of(await edit(service, unknown, TITLED, "*"), 404)["code"] == "NOT_FOUND"
    retired = await service.call("POST", f"{FLOWS}/{unknown}/retire", actor=AUTHOR)
    assert problem_of(retired, 404)["code"] == "NOT_FOUND"


async def test_a_retirement_closes_the_type_and_answers_the_same_again(service: HttpService) -> None:
    flow_id = await service.published_flow()
    first = await service.call("POST", f"{FLOWS}/{flow_id}/retire", actor=AUTHOR)
    again = await service.call("POST", f"{FLOWS}/{flow_id}/retire", actor=AUTHOR, headers={"If-Match": '"1"'})
    for answer in (first, again):
        assert (answer.status_code, answer.headers["ETag"]) == (200, '"2"')
        assert json_of(answer)["status"] == "RETIRED"
    creation = await service.call(
        "POST",
        f"{API}/requests",
        body={"typeKey": "LENDING", "data": {"item": "ladder"}},
        headers={"Idempotency-Key": "create-1"},
    )
    assert problem_of(creation, 409)["code"] == "FLOW_RETIRED"


async def test_a_draft_is_not_retired(service: HttpService) -> None:
    answer = await service.call("POST", f"{FLOWS}/{await draft(service)}/retire", actor=AUTHOR)
    assert problem_of(answer, 409)["code"] == "FLOW_NOT_PUBLISHED"


async def test_a_retirement_may_be_conditional(service: HttpService) -> None:
    path = f"{FLOWS}/{await published(service)}/retire"
    stale = await service.call("POST", path, actor=AUTHOR, headers={"If-Match": '"0"'})
    assert problem_of(stale, 412)["currentETag"] == '"1"'
    assert (await service.call("POST", path, actor=AUTHOR, headers={"If-Match": '"1"'})).status_code == 200


async def switch(service: HttpService, *, to: JsonValue, tag: str | None = "*") -> httpx2.Response:
    headers = {} if tag is None else {"If-Match": tag}
    return await service.call("PUT", f"{TYPE}/enabled", actor=AUTHOR, body={"enabled": to}, headers=headers)


async def test_a_type_is_closed_and_opened_under_its_tag(service: HttpService) -> None:
    await service.published_flow()
    closed = await switch(service, to=False, tag='"0"')
    assert (closed.status_code, closed.headers["ETag"]) == (200, '"1"')
    assert json_of(closed)["enabled"] is False
    creation = await service.call(
        "POST", f"{API}/requests", body={"typeKey": "LENDING"}, headers={"Idempotency-Key": "create-1"}
    )
    assert problem_of(creation, 409)["code"] == "REQUEST_TYPE_DISABLED"
    assert (await switch(service, to=False)).headers["ETag"] == '"1"'
    assert problem_of(await switch(service, to=True, tag='"0"'), 412)["currentETag"] == '"1"'
    assert (await switch(service, to=True, tag='"1"')).headers["ETag"] == '"2"'


async def test_a_switch_needs_a_precondition_a_type_and_a_boolean(service: HttpService) -> None:
    assert problem_of(await switch(service, to=True), 404)["code"] == "NOT_FOUND"
    await service.published_flow()
    assert problem_of(await switch(service, to=True, tag=None), 428)["code"] == "PRECONDITION_REQUIRED"
    for value in (1, "true", None):
        assert problem_of(await switch(service, to=value), 400)["pointer"] == "/enabled"


async def test_every_act_is_recorded_under_the_correlation_id_of_its_call(service: HttpService) -> None:
    traced = {"X-Correlation-Id": "trace-7", "If-Match": "*"}

    async def act(method: str, path: str, body: JsonValue | bytes = b"") -> httpx2.Response:
        answer = await service.call(method, path, actor=AUTHOR, body=body, headers=traced)
        assert answer.is_success, answer.text
        return answer

    flow = f"{FLOWS}/{text_member(await act('POST', FLOWS, flow_document()), 'flowId')}"
    await act("PUT", flow, TITLED)
    await act("POST", f"{flow}/publish")
    first = {"X-Correlation-Id": "trace-7", "If-None-Match": "*"}
    activation = await service.call(
        "PUT",
        f"{TYPE}/active-flow",
        actor=AUTHOR,
        body={"flowId": flow.rpartition("/")[2]},
        headers=first,
    )
    assert activation.status_code == 200
    await act("PUT", f"{TYPE}/enabled", {"enabled": False})
    await act("POST", f"{flow}/retire")
    facts = list(service.store.admin_facts.rows.values())
    assert [fact.action for fact in facts] == [
        "FLOW_CREATED",
        "FLOW_EDITED",
        "FLOW_PUBLISHED",
        "FLOW_ACTIVATED",
        "TYPE_DISABLED",
        "FLOW_RETIRED",
    ]
    assert {(fact.correlation_id, fact.actor) for fact in facts} == {("trace-7", "author-1")}


@pytest.mark.parametrize(
    ("method", "path", "needed"),
    [
        ("POST", FLOWS, {"FLOW_EDITOR"}),
        ("GET", FLOWS + "/{flow}", {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"}),
        ("POST", FLOWS + "/{flow}/validate", {"FLOW_EDITOR", "FLOW_PUBLISHER"}),
        ("PUT", FLOWS + "/{flow}", {"FLOW_EDITOR"}),
        ("GET", FLOWS, {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"}),
        ("POST", FLOWS + "/{flow}/publish", {"FLOW_PUBLISHER"}),
        ("POST", FLOWS + "/{flow}/retire", {"FLOW_ADMIN"}),
        ("GET", TYPES, {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"}),
        ("GET", TYPE, {"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"}),
        ("PUT", TYPE + "/active-flow", {"FLOW_ADMIN"}),
        ("PUT", TYPE + "/enabled", {"FLOW_ADMIN"}),
    ],
)
async def test_each_administrative_route_is_closed_to_everybody_without_its_permission(
    service: HttpService, method: str, path: str, needed: set[str]
) -> None:
    flow_id = await draft(service)
    bodies: dict[str, Any] = {
        "POST " + FLOWS: flow_document(version=2),
        "PUT " + FLOWS + "/{flow}": flow_document(),
        "PUT " + TYPE + "/active-flow": {"flowId": flow_id},
        "PUT " + TYPE + "/enabled": {"enabled": True},
    }
    condition = {"If-None-Match": "*"} if path.endswith("/active-flow") else {"If-Match": "*"}
    for role in ("FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "EXECUTION_OPERATOR", "AUDITOR", "CLERK"):
        answer = await service.call(
            method,
            path.replace("{flow}", flow_id),
            actor={"roles": [role]},
            body=bodies.get(f"{method} {path}", b""),
            headers=condition if method == "PUT" else {},
        )
        assert (answer.status_code == 403) == (role not in needed), (role, answer.text)
