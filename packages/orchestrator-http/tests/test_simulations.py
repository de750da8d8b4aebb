"""Trying events on flow versions."""

from collections.abc import Mapping
from typing import Any, cast

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

SCENARIO: JsonObject = {
    "data": {"item": "ladder"},
    "event": "CHECK",
    "results": {"lookup": {"found": True}},
}


@pytest.fixture
def service() -> HttpService:
    return http_service()


async def draft(service: HttpService, document: JsonObject | None = None) -> str:
    created = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=document or flow_document())
    return text_member(created, "flowId")


async def simulate(
    service: HttpService, flow_id: str, body: JsonValue, *, actor: Mapping[str, Any] = AUTHOR
) -> Any:
    return await service.call("POST", f"{API}/admin/flows/{flow_id}/simulate", actor=actor, body=body)


@pytest.mark.parametrize("is_published", [False, True], ids=["draft", "published"])
async def test_an_event_is_tried_without_any_request(service: HttpService, *, is_published: bool) -> None:
    flow_id = await service.published_flow() if is_published else await draft(service)
    shown = json_of(await simulate(service, flow_id, SCENARIO))
    assert (shown["accepted"], shown["state"], shown["outcome"]) == (True, "LENT", "FOUND")
    assert shown["data"] == {"item": "ladder", "lookup": {"found": True}}
    assert cast("JsonObject", shown["decision"])["ruleIds"] == ["found"]
    assert service.store.requests.rows == {}
    assert service.store.executions.rows == {}


async def test_a_refusal_and_a_fault_are_good_answers(service: HttpService) -> None:
    flow_id = await draft(service)
    refused = json_of(await simulate(service, flow_id, {**SCENARIO, "actor": {"roles": ["VISITOR"]}}))
    assert cast("JsonObject", refused["refusal"])["code"] == "ACCESS_DENIED"
    assert (refused["accepted"], refused["state"], refused["data"]) == (False, "OPEN", {"item": "ladder"})
    stopped = json_of(await simulate(service, flow_id, {**SCENARIO, "results": {}}))
    assert stopped["accepted"] is True
    assert cast("JsonObject", stopped["fault"])["place"] == "/transitions/0/actions/0"


async def test_an_actor_is_supposed_with_roles_scopes_and_attributes(service: HttpService) -> None:
    document = flow_document()
    transitions = cast("list[JsonObject]", document["transitions"])
    guard: JsonObject = {"op": "EQ", "left": {"path": "/actor/attributes/grade"}, "right": {"literal": 2}}
    flow_id = await draft(
        service, {**document, "transitions": [{**transitions[0], "guard": guard}, transitions[1]]}
    )
    actor: JsonObject = {"subject": "s", "roles": ["CLERK"], "scopes": ["NORTH"], "attributes": {"grade": 2}}
    assert json_of(await simulate(service, flow_id, {**SCENARIO, "actor": actor}))["outcome"] == "FOUND"
    lower: JsonObject = {**actor, "attributes": {"grade": 1}}
    refused = json_of(await simulate(service, flow_id, {**SCENARIO, "actor": lower}))
    assert cast("JsonObject", refused["refusal"])["code"] == "GUARD_NOT_SATISFIED"


async def test_no_op_may_be_tried_and_not_published(service: HttpService) -> None:
    document = flow_document()
    transitions = cast("list[JsonObject]", document["transitions"])
    action: JsonObject = {"id": "lookup", "type": "NO_OP", "inputs": {}, "resultKey": "lookup"}
    document = {**document, "transitions": [{**transitions[0], "actions": [action]}, transitions[1]]}
    flow_id = await draft(service, document)
    assert json_of(await simulate(service, flow_id, SCENARIO))["outcome"] == "FOUND"
    published = await service.call("POST", f"{API}/admin/flows/{flow_id}/publish", actor=AUTHOR)
    assert problem_of(published, 422)["code"] == "FLOW_INVALID"


async def test_a_draft_with_errors_can_t_be_tried(service: HttpService) -> None:
    flow_id = await draft(service, {**flow_document(), "initialState": "GONE"})
    assert problem_of(await simulate(service, flow_id, SCENARIO), 422)["code"] == "FLOW_INVALID"


@pytest.mark.parametrize(
    ("change", "status", "pointer"),
    [
        ({"state": "GONE"}, 422, "/state"),
        ({"event": 7}, 400, "/event"),
        ({"results": {"lookup": 7}}, 400, "/results/lookup"),
        ({"results": {"a/b": 7}}, 400, "/results/a~1b"),
        ({"actor": {"roles": "CLERK"}}, 400, "/actor/roles"),
        ({"actor": {"roles": ["CLERK", 7]}}, 400, "/actor/roles/1"),
        ({"actor": {"name": "x"}}, 400, "/actor/name"),
        ({"other": {}}, 400, "/other"),
    ],
)
async def test_a_scenario_that_can_t_be_taken_names_its_place(
    service: HttpService, change: JsonObject, status: int, pointer: str
) -> None:
    flow_id = await draft(service)
    assert problem_of(await simulate(service, flow_id, {**SCENARIO, **change}), status)["pointer"] == pointer


@pytest.mark.parametrize("role", ["FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR", "EXECUTION_OPERATOR", "CLERK"])
async def test_trying_needs_the_editor(service: HttpService, role: str) -> None:
    flow_id = await draft(service)
    answer = await simulate(service, flow_id, SCENARIO, actor={"roles": [role]})
    assert problem_of(answer, 403)["code"] == "ACCESS_DENIED"
