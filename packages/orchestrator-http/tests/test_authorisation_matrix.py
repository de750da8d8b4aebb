"""Every route for every kind of actor: what each is answered, and that a refusal changes nothing."""

import copy
from collections.abc import Mapping
from typing import Any, Final

import httpx2
import pytest
from attrs import frozen
from tests.plugins.http_service import API, AUTHOR, HttpService, http_service, text_member
from tests.plugins.stopped_execution import EVIDENCE, stop_what_is_due

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.testing.examples import flow_document
from orchestrator_http.routes import route_table
from orchestrator_http.routing import GuardedRoute
from orchestrator_http.services import HttpSettings

EVERYTHING: Final = HttpSettings(request_api_enabled=True, flow_admin_enabled=True, api_docs_enabled=True)
TECHNICAL: Final = ("FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "EXECUTION_OPERATOR", "AUDITOR")
READERS: Final = frozenset({"FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN", "AUDITOR"})

type Claims = Mapping[str, Any]

ACTORS: Final[Mapping[str, Claims | None]] = {
    "nobody": None,
    "owner": {"roles": ["CLERK"]},
    "owner without the role": {"roles": []},
    "owner without the scope": {"roles": ["CLERK"], "business_scopes": []},
    "owner as an operator of other scopes": {"roles": ["EXECUTION_OPERATOR"], "business_scopes": ["SOUTH"]},
    "colleague": {"sub": "clerk-2", "roles": ["CLERK"]},
    "stranger": {"sub": "clerk-3", "roles": ["CLERK"], "business_scopes": ["SOUTH"]},
    **{role: {"sub": "expert-1", "roles": [role]} for role in TECHNICAL},
    **{
        f"{role} elsewhere": {"sub": "expert-2", "roles": [role], "business_scopes": ["SOUTH"]}
        for role in TECHNICAL
    },
    "everything": {"sub": "expert-3", "roles": ["CLERK", *TECHNICAL]},
    "everything elsewhere": {
        "sub": "expert-4",
        "roles": ["CLERK", *TECHNICAL],
        "business_scopes": ["SOUTH"],
    },
}


@frozen(kw_only=True)
class Access:
    """Who is answered `good`; `roles` None asks for none.

    `seen` routes are about a request that has to be visible, `by_scope` ones whoever owns it.
    """

    good: int
    roles: frozenset[str] | None = None
    seen: bool = False
    by_scope: bool = False
    role_first: bool = False
    body: JsonValue = None
    headers: Mapping[str, str] = {}

    def expected(self, claims: Claims | None) -> int:
        if claims is None:
            return 401
        owned = "sub" not in claims and not self.by_scope
        visible = "NORTH" in claims.get("business_scopes", ["NORTH"]) or owned
        permitted = self.roles is None or bool(self.roles & set(claims["roles"]))
        refusals = [403 if not permitted else None, 404 if self.seen and not visible else None]
        order = refusals if self.role_first else reversed(refusals)
        return next((refusal for refusal in order if refusal is not None), self.good)


def needing(*roles: str, good: int = 200, **more: Any) -> Access:
    return Access(good=good, roles=frozenset(roles), **more)


KEY, ANY = {"Idempotency-Key": "matrix"}, {"If-Match": "*"}
CREATION: JsonObject = {"typeKey": "LENDING", "data": {"item": "drill"}, "businessScope": "NORTH"}
SCENARIO: JsonObject = {"event": "WITHDRAW"}
RESOLUTION: JsonObject = {
    "actionId": "lookup",
    "stop": 1,
    "resolution": "CLOSE_WITHOUT_TRANSITION",
    "evidence": EVIDENCE,
}
OPERATORS: Final[Mapping[str, Any]] = {"seen": True, "by_scope": True, "role_first": True}
ACCESS: Final[Mapping[tuple[str, str], Access]] = {
    ("GET", "/requests/{requestId}"): Access(good=200, seen=True),
    ("GET", "/requests/{requestId}/available-events"): Access(good=200, seen=True),
    ("GET", "/requests/{requestId}/history"): Access(good=200, seen=True),
    ("POST", "/requests/{requestId}/events"): needing(
        "CLERK", good=202, seen=True, body={"event": "CHECK"}, headers={**KEY, **ANY}
    ),
    ("GET", "/executions/{executionId}"): Access(good=200, seen=True),
    ("GET", "/admin/executions"): needing("EXECUTION_OPERATOR"),
    ("GET", "/admin/executions/{executionId}"): needing("EXECUTION_OPERATOR", **OPERATORS),
    ("POST", "/admin/executions/{executionId}/resolve"): needing(
        "EXECUTION_OPERATOR", **OPERATORS, body=RESOLUTION, headers=KEY
    ),
    ("GET", "/admin/flows"): needing(*READERS),
    ("POST", "/admin/flows"): needing("FLOW_EDITOR", good=201, body=flow_document(version=3)),
    ("GET", "/admin/flows/{flowId}"): needing(*READERS),
    ("PUT", "/admin/flows/{draftId}"): needing("FLOW_EDITOR", body=flow_document(version=2), headers=ANY),
    ("POST", "/admin/flows/{draftId}/validate"): needing("FLOW_EDITOR", "FLOW_PUBLISHER"),
    ("POST", "/admin/flows/{draftId}/simulate"): needing("FLOW_EDITOR", body=SCENARIO),
    ("POST", "/admin/flows/{draftId}/impact"): needing("FLOW_EDITOR", body={}),
    ("POST", "/admin/flows/{draftId}/publish"): needing("FLOW_PUBLISHER"),
    ("POST", "/admin/flows/{flowId}/retire"): needing("FLOW_ADMIN"),
    ("GET", "/admin/request-types"): needing(*READERS),
    ("GET", "/admin/request-types/{typeKey}"): needing(*READERS),
    ("PUT", "/admin/request-types/{typeKey}/active-flow"): needing("FLOW_ADMIN", headers=ANY),
    ("PUT", "/admin/request-types/{typeKey}/enabled"): needing(
        "FLOW_ADMIN", body={"enabled": False}, headers=ANY
    ),
}


def test_the_matrix_has_a_row_for_every_route_that_asks_for_a_token() -> None:
    rows = {(method, API + path.replace("{draftId}", "{flowId}")) for method, path in ACCESS}
    guarded = {
        (route.method, route.path)
        for route in route_table(http_service(EVERYTHING).services, EVERYTHING)
        if isinstance(route, GuardedRoute)
    }
    # Creation has no rows of this shape: whoever holds a scope may create in it.
    assert rows | {("POST", f"{API}/requests")} == guarded


@pytest.mark.parametrize("actor", ACTORS)
@pytest.mark.parametrize(("method", "path"), ACCESS, ids=lambda part: part)
async def test_each_actor_is_answered_as_its_rights_are(method: str, path: str, actor: str) -> None:
    service, names = await furnished()
    access, claims = ACCESS[method, path], ACTORS[actor]
    activation: JsonObject = {"flowId": names["flowId"]}
    body = activation if path.endswith("/active-flow") else access.body
    before = contents(service)
    answer = await sent(service, method, API + path.format(**names), claims, body, access.headers)
    assert answer.status_code == access.expected(claims), answer.text
    if answer.status_code in (401, 403, 404):
        assert contents(service) == before
    assert service.unexpected == []


@pytest.mark.parametrize("actor", ACTORS)
async def test_each_actor_creates_in_scopes_that_it_holds_only(actor: str) -> None:
    service, _ = await furnished()
    claims = ACTORS[actor]
    before = contents(service)
    answer = await sent(service, "POST", f"{API}/requests", claims, CREATION, KEY)
    held = claims is not None and "NORTH" in claims.get("business_scopes", ["NORTH"])
    assert answer.status_code == (401 if claims is None else 201 if held else 403), answer.text
    if not held:
        assert contents(service) == before


@pytest.mark.parametrize("actor", ACTORS)
async def test_only_an_auditor_who_sees_the_request_sees_details(actor: str) -> None:
    service, names = await furnished()
    claims = ACTORS[actor]
    path = f"{API}/requests/{names['requestId']}/history"
    answer = await sent(service, "GET", path, claims, None, {})
    if answer.status_code == 200:
        assert claims is not None
        assert ("detail" in answer.text) is ("AUDITOR" in claims["roles"])


@pytest.mark.parametrize("roles", [["CLERK"], ["CLERK", "AUDITOR"], ["CLERK", *TECHNICAL], ["KEEPER"]])
async def test_restricted_data_is_cut_from_whatever_shows_data(roles: list[str]) -> None:
    restricted: JsonObject = {"path": "/deposit", "allowedRoles": ["KEEPER"]}
    service = http_service(EVERYTHING)
    await published(service, {**flow_document(), "restrictedData": [restricted]})
    creation: JsonObject = {"typeKey": "LENDING", "data": {"item": "ladder", "deposit": 4711}}
    created = await sent(service, "POST", f"{API}/requests", {"roles": ["CLERK"]}, creation, KEY)
    request = f"{API}/requests/{text_member(created, 'requestId')}"
    again = await sent(service, "POST", f"{API}/requests", {"roles": ["CLERK"]}, creation, KEY)
    shown = await sent(service, "GET", request, {"roles": roles}, None, {})
    assert ("4711" in shown.text) is ("KEEPER" in roles)
    for path in ("/available-events", "/history"):
        answer = await sent(service, "GET", request + path, {"roles": roles}, None, {})
        assert answer.status_code == 200
        assert "4711" not in answer.text
    assert "4711" not in created.text + again.text


async def test_documents_and_health_ask_nobody_who_they_are() -> None:
    service = http_service(EVERYTHING)
    for path in ("/health/live", "/health/ready", "/docs", "/openapi.json", "/problems/NOT_FOUND"):
        assert (await service.client.get(path)).status_code == 200
        assert (await service.client.get(path, headers={"Authorization": "Bearer x"})).status_code == 200


async def furnished() -> tuple[HttpService, Mapping[str, str]]:
    """Return a service with a published flow, a draft, a free request, and one whose execution stopped."""
    service = http_service(EVERYTHING)
    flow_id = await published(service, flow_document())
    draft = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=flow_document(version=2))
    busy = await service.created_request(key="busy")
    accepted = await service.call(
        "POST", f"{API}/requests/{busy}/events", body={"event": "CHECK"}, headers={**KEY, **ANY}
    )
    await stop_what_is_due(service)
    return service, {
        "flowId": flow_id,
        "draftId": text_member(draft, "flowId"),
        "requestId": await service.created_request(key="free"),
        "executionId": text_member(accepted, "executionId"),
        "typeKey": "LENDING",
    }


async def published(service: HttpService, document: JsonObject) -> str:
    created = await service.call("POST", f"{API}/admin/flows", actor=AUTHOR, body=document)
    flow_id = text_member(created, "flowId")
    await service.call("POST", f"{API}/admin/flows/{flow_id}/publish", actor=AUTHOR)
    await service.call(
        "PUT",
        f"{API}/admin/request-types/LENDING/active-flow",
        actor=AUTHOR,
        body={"flowId": flow_id},
        headers={"If-None-Match": "*"},
    )
    return flow_id


async def sent(
    service: HttpService,
    method: str,
    path: str,
    claims: Claims | None,
    body: JsonValue,
    headers: Mapping[str, str],
) -> httpx2.Response:
    content = b"" if body is None else body
    if claims is None:
        return await service.client.request(method, path, headers=dict(headers))
    return await service.call(method, path, actor=claims, body=content, headers=headers)


def contents(service: HttpService) -> dict[str, Any]:
    tables = {name: table for name, table in vars(service.store).items() if hasattr(table, "rows")}
    return {name: copy.copy(table.rows) for name, table in tables.items()}
