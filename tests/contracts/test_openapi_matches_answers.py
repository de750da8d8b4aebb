"""What the application really answers is what the OpenAPI contract says, header by header and member by member."""

from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from tests.plugins.http_service import API, AUTHOR, HttpService, http_service, text_member
from tests.plugins.lending_runs import run_what_is_due
from tests.plugins.openapi_contract import Contract, openapi_contract
from tests.plugins.stopped_execution import EVIDENCE, accepted_execution, stop_what_is_due

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.testing.examples import flow_document
from orchestrator_http.services import HttpSettings

FLOWS, TYPES = f"{API}/admin/flows", f"{API}/admin/request-types"
TYPE = f"{TYPES}/LENDING"
NOWHERE = "00000000-0000-7000-8000-000000000000"
KEY, ANY = {"Idempotency-Key": "key-1"}, {"If-Match": "*"}
SCENARIO: Any = {"data": {"item": "ladder"}, "event": "CHECK", "results": {"lookup": {"found": True}}}
EXECUTIONS = f"{API}/admin/executions"
OPERATOR = {"sub": "operator-1", "roles": ["EXECUTION_OPERATOR"]}
AVAILABILITY: Any = flow_document()["decisions"][0]  # type: ignore[index]
ALWAYS: Any = {"op": "EXISTS", "arg": {"path": "/results/lookup/found"}}
CREATION: Any = {"typeKey": "LENDING", "data": {"item": "ladder"}}


@pytest.fixture(scope="module")
def contract() -> Contract:
    return openapi_contract()


async def good_answers(service: HttpService) -> list[httpx2.Response]:
    """Walk every operation once, and repeat what is idempotent."""
    flow_id = await service.published_flow()
    request_id = await service.created_request()
    event = f"{API}/requests/{request_id}/events"
    accepted = await service.call("POST", event, body={"event": "CHECK"}, headers={**KEY, **ANY})
    resolutions = await good_resolutions(service)
    draft = await service.call("POST", FLOWS, actor=AUTHOR, body=flow_document(version=2))
    draft_id = text_member(draft, "flowId")
    return [
        *resolutions,
        await service.call("POST", f"{API}/requests", body=CREATION, headers=KEY),
        await service.call("POST", f"{API}/requests", body=CREATION, headers=KEY),
        await service.call("GET", f"{API}/requests/{request_id}"),
        await service.call("GET", f"{API}/requests/{request_id}/available-events"),
        await service.call("GET", f"{API}/requests/{request_id}/history?limit=1"),
        await service.call("GET", f"{API}/requests/{request_id}/history", actor={"roles": ["AUDITOR"]}),
        accepted,
        await service.call("POST", event, body={"event": "CHECK"}, headers={**KEY, **ANY}),
        await service.call("GET", accepted.headers["Location"]),
        draft,
        await service.call("GET", f"{FLOWS}/{flow_id}", actor=AUTHOR),
        await service.call("GET", f"{FLOWS}?flowKey=LENDING&limit=1", actor=AUTHOR),
        await service.call("GET", FLOWS, actor=AUTHOR),
        await service.call("POST", f"{FLOWS}/{draft_id}/validate", actor=AUTHOR),
        await service.call(
            "PUT",
            f"{FLOWS}/{draft_id}",
            actor=AUTHOR,
            body=flow_document(version=2),
            headers={"If-Match": '"0"'},
        ),
        await service.call("POST", f"{FLOWS}/{draft_id}/publish", actor=AUTHOR, headers={"If-Match": '"1"'}),
        await service.call("POST", f"{FLOWS}/{flow_id}/simulate", actor=AUTHOR, body=SCENARIO),
        *await impacts(service, flow_id),
        await service.call("GET", TYPE, actor=AUTHOR),
        await service.call("GET", TYPES, actor=AUTHOR),
        await service.call(
            "PUT", f"{TYPE}/active-flow", actor=AUTHOR, body={"flowId": draft_id}, headers=ANY
        ),
        await service.call("PUT", f"{TYPE}/enabled", actor=AUTHOR, body={"enabled": False}, headers=ANY),
        await service.call("POST", f"{FLOWS}/{draft_id}/retire", actor=AUTHOR),
        *[
            await service.client.get(path)
            for path in (
                "/docs",
                "/docs/contract.js",
                "/openapi.json",
                "/openapi.yaml",
                "/problems/NOT_FOUND",
            )
        ],
        await service.client.get("/health/live"),
        await service.client.get("/health/ready"),
    ]


async def impacts(service: HttpService, flow_id: str) -> list[httpx2.Response]:
    """Compare what has happened with a version under which something would come out otherwise."""
    rule = {**AVAILABILITY["rules"][0], "when": ALWAYS}
    document: Any = {**flow_document(version=7), "decisions": [{**AVAILABILITY, "rules": [rule]}]}
    draft = await service.call("POST", FLOWS, actor=AUTHOR, body=document)
    draft_id = text_member(draft, "flowId")
    await accepted_execution(service, key="compared")
    await run_what_is_due(service, {"found": False})
    editors = [{"roles": ["FLOW_EDITOR"]}, {"roles": ["FLOW_EDITOR", "AUDITOR"]}]
    answers = [
        await service.call("POST", f"{FLOWS}/{draft_id}/impact", actor=who, body={}) for who in editors
    ]
    assert all('"examples":[{' in answer.text for answer in answers)
    body: Any = {"requestsMax": 1, "since": "2026-01-01T00:00:00Z"}
    bounded = {"Prefer": "wait=30"}
    answers.append(
        await service.call("POST", f"{FLOWS}/{flow_id}/impact", actor=AUTHOR, body=body, headers=bounded)
    )
    return answers


async def good_resolutions(service: HttpService) -> list[httpx2.Response]:
    """Stop three executions, resolve each in another way, and look at them before and after."""
    stopped = [await accepted_execution(service, key=f"stopped-{number}") for number in range(3)]
    await stop_what_is_due(service)
    ways: list[Any] = [
        {"resolution": "RESUME_WITH_RESULT", "result": {"found": True}},
        {"resolution": "RESUME_EFFECT_ABSENT"},
        {"resolution": "CLOSE_WITHOUT_TRANSITION"},
    ]
    answers = [
        await service.call("GET", f"{EXECUTIONS}?limit=2", actor=OPERATOR),
        await service.call("GET", f"{EXECUTIONS}/{stopped[0]}", actor=OPERATOR),
    ]
    for execution_id, way in zip(stopped, ways, strict=True):
        body = {"actionId": "lookup", "stop": 1, "evidence": EVIDENCE, **way}
        for _ in range(2):
            path = f"{EXECUTIONS}/{execution_id}/resolve"
            answers.append(await service.call("POST", path, actor=OPERATOR, body=body, headers=KEY))
        answers.append(await service.call("GET", f"{EXECUTIONS}/{execution_id}", actor=OPERATOR))
    answers.append(await service.call("GET", f"{EXECUTIONS}?status=PENDING", actor=OPERATOR))
    return answers


async def test_every_operation_has_an_answer_that_keeps_the_contract(contract: Contract) -> None:
    everything = HttpSettings(request_api_enabled=True, flow_admin_enabled=True, api_docs_enabled=True)
    answers = await good_answers(http_service(everything))
    walked = set()
    for answer in answers:
        operation = contract.operation(answer.request.method, answer.request.url.path)
        assert answer.is_success, answer.text
        assert contract.answer_faults(answer) == [], operation.path
        walked.add((operation.method, operation.path))
    assert walked == {(operation.method, operation.path) for operation in contract.operations()}


async def test_an_answer_without_news_keeps_the_contract(contract: Contract) -> None:
    service = http_service()
    await service.published_flow()
    request = f"{API}/requests/{await service.created_request()}"
    accepted = await service.call(
        "POST", f"{request}/events", body={"event": "CHECK"}, headers={**KEY, **ANY}
    )
    for path in (request, accepted.headers["Location"]):
        answer = await service.call("GET", path, headers={"If-None-Match": "*", "Prefer": "wait=0"})
        assert answer.status_code == 304
        assert contract.answer_faults(answer) == []


type Attempt = Callable[[HttpService, dict[str, str]], Awaitable[httpx2.Response]]


def attempt(method: str, path: str, **named: Any) -> Attempt:
    async def send(service: HttpService, ids: dict[str, str]) -> httpx2.Response:
        return await service.call(method, path.format(**ids), **named)

    return send


EVENT = f"{API}/requests/{{request}}/events"
REFUSALS = {
    "malformed": attempt("POST", f"{API}/requests", body=b"{", headers=KEY),
    "shape": attempt("POST", f"{API}/requests", body={"typeKey": 7}, headers=KEY),
    "no key": attempt("POST", f"{API}/requests", body=CREATION),
    "no token": attempt("POST", f"{API}/requests", headers={"Authorization": "Bearer x"}),
    "denied": attempt("POST", FLOWS, body=flow_document(version=3)),
    "not found": attempt("GET", f"{API}/executions/{NOWHERE}"),
    "conflict": attempt("POST", FLOWS, actor=AUTHOR, body=flow_document()),
    "stale": attempt("POST", EVENT, body={"event": "CHECK"}, headers={**KEY, "If-Match": '"9"'}),
    "no such type": attempt(
        "PUT",
        f"{API}/admin/request-types/NEW/active-flow",
        actor=AUTHOR,
        body={"flowId": NOWHERE},
        headers=ANY,
    ),
    "too large": attempt("POST", EVENT, body=b" " * 400_000, headers={**KEY, **ANY}),
    "form": attempt("POST", EVENT, body=b"a=1", headers={**KEY, **ANY, "Content-Type": "text/plain"}),
    "schema": attempt("POST", EVENT, body={"event": "CHECK", "data": {"score": 99}}, headers={**KEY, **ANY}),
    "no flow": attempt("POST", FLOWS, actor=AUTHOR, body={}),
    "unconditional": attempt("POST", EVENT, body={"event": "CHECK"}, headers=KEY),
    "edit of what is published": attempt(
        "PUT", f"{FLOWS}/{{flow}}", actor=AUTHOR, body=flow_document(), headers=ANY
    ),
    "unconditional edit": attempt("PUT", f"{FLOWS}/{{flow}}", actor=AUTHOR, body=flow_document()),
    "no such filter": attempt("GET", f"{FLOWS}?status=GONE", actor=AUTHOR),
    "forged cursor": attempt("GET", f"{TYPES}?cursor=AAAA", actor=AUTHOR),
    "impossible scenario": attempt(
        "POST", f"{FLOWS}/{{flow}}/simulate", actor=AUTHOR, body={**SCENARIO, "state": "GONE"}
    ),
    "impossible threshold": attempt(
        "POST",
        f"{FLOWS}/{{flow}}/impact",
        actor=AUTHOR,
        body={"vary": {"places": ["/version"], "values": [1]}},
    ),
    "impact of too much": attempt(
        "POST", f"{FLOWS}/{{flow}}/impact", actor=AUTHOR, body={"requestsMax": 1001}
    ),
    "query": attempt("GET", f"{API}/requests/{{request}}/history?limit=0"),
    "cursor": attempt("GET", f"{API}/requests/{{request}}/history?cursor=AAAA"),
    "header": attempt("POST", EVENT, body={"event": "CHECK"}, headers={**KEY, "If-Match": "7"}),
}


@pytest.mark.parametrize("name", REFUSALS)
async def test_every_refusal_keeps_the_contract(contract: Contract, name: str) -> None:
    service = http_service()
    ids = {"flow": await service.published_flow(), "request": await service.created_request()}
    answer = await REFUSALS[name](service, ids)
    assert answer.is_client_error
    assert contract.answer_faults(answer) == []


@pytest.mark.parametrize(
    "error", [StorageUnavailable("The store did not answer."), RuntimeError("anything")], ids=["503", "500"]
)
async def test_every_failure_keeps_the_contract(contract: Contract, error: Exception) -> None:
    async def fails(*_arguments: object) -> None:
        raise error

    service = http_service(create_request=fails)
    answer = await service.call("POST", f"{API}/requests", body=CREATION, headers=KEY)
    assert answer.is_server_error
    assert contract.answer_faults(answer) == []


async def test_a_process_that_drains_keeps_the_contract(contract: Contract) -> None:
    service = http_service(HttpSettings())
    service.not_ready.append("draining")
    answer = await service.client.get("/health/ready")
    assert answer.status_code == 503
    assert contract.answer_faults(answer) == []
