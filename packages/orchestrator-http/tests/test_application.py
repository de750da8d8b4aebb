"""What holds for every route: methods, switches, problems, health, and what is told of each answer."""

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, NoReturn

import pytest
from starlette.types import Message
from tests.plugins.http_service import API, HttpService, http_service, problem_of

import orchestrator_domain
import orchestrator_http
from orchestrator_domain.errors import FlowInvalid, LeaseLost, OrchestratorError, StorageUnavailable
from orchestrator_domain.exact_json.value import InexactJson
from orchestrator_domain.flow.findings import Finding
from orchestrator_http.payloads import AnswerUnwritable, json_response
from orchestrator_http.problem import PROBLEMS, is_told
from orchestrator_http.routes import route_table
from orchestrator_http.services import HttpSettings

# Promises of the durable protocol, faults of schemas and pointers that reading a flow turns into findings, and faults of
# what only commands without a server read: none of them has a row, so that each would be a 500 and a defect of ours.
UNTOLD = {
    "LEASE_LOST",
    "CHECKPOINT_MOVED",
    "REQUEST_MOVED",
    "INVALID_SCHEMA",
    "INVALID_POINTER",
    "INVALID_CASES",
    "PAST_NOT_REPLAYABLE",
}


@pytest.fixture
def service() -> HttpService:
    return http_service()


def failing(error: Exception) -> Callable[..., Any]:
    async def use_case(*_arguments: object, **_named: object) -> NoReturn:
        raise error

    return use_case


async def create(service: HttpService) -> Any:
    return await service.call(
        "POST", f"{API}/requests", body={"typeKey": "LENDING"}, headers={"Idempotency-Key": "k"}
    )


async def test_without_a_token_nobody_gets_in_and_the_challenge_says_how(service: HttpService) -> None:
    answer = await service.client.get(f"{API}/requests/1")
    assert problem_of(answer, 401)["code"] == "NOT_AUTHENTICATED"
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="orchestrator"'


async def test_a_refused_token_is_challenged_without_a_reason(service: HttpService) -> None:
    answer = await service.call("GET", f"{API}/requests/1", headers={"Authorization": "Bearer a.b.c"})
    assert problem_of(answer, 401)
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="orchestrator", error="invalid_token"'


async def test_no_guarded_route_answers_anything_but_401_without_a_token(service: HttpService) -> None:
    for path in (
        "/requests",
        "/requests/x",
        "/requests/x/events",
        "/executions/x",
        "/admin/flows",
        "/admin/flows/x",
        "/admin/flows/x/validate",
        "/admin/flows/x/publish",
        "/admin/request-types/x",
        "/admin/request-types/x/active-flow",
    ):
        allowed = (await service.client.options(API + path)).headers["Allow"].split(", ")
        for method in set(allowed) - {"OPTIONS"}:
            assert (await service.client.request(method, API + path)).status_code == 401, (method, path)


async def test_while_the_issuer_has_never_answered_tokens_cannot_be_judged(service: HttpService) -> None:
    service.publisher.down = True
    answer = await service.call("GET", f"{API}/requests/1")
    assert problem_of(answer, 503)["code"] == "AUTHENTICATION_UNAVAILABLE"
    assert answer.headers["Retry-After"] == "2"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", f"{API}/requests", "OPTIONS, POST"),
        ("GET", f"{API}/requests", "OPTIONS, POST"),
        ("PATCH", f"{API}/requests/1", "GET, HEAD, OPTIONS"),
        ("POST", f"{API}/admin/request-types/X/active-flow", "OPTIONS, PUT"),
        ("POST", "/health/live", "GET, HEAD, OPTIONS"),
        ("BREW", f"{API}/requests", "OPTIONS, POST"),
    ],
)
async def test_another_method_is_answered_with_those_that_exist(
    service: HttpService, method: str, path: str, allowed: str
) -> None:
    answer = await service.call(method, path)
    assert problem_of(answer, 405)["code"] == "METHOD_NOT_ALLOWED"
    assert answer.headers["Allow"] == allowed


async def test_options_names_the_methods_without_a_token(service: HttpService) -> None:
    answer = await service.client.options(f"{API}/requests")
    assert (answer.status_code, answer.headers["Allow"], answer.content) == (204, "OPTIONS, POST", b"")


@pytest.mark.parametrize(
    ("settings", "request_status", "flow_status"),
    [
        (HttpSettings(), 404, 404),
        (HttpSettings(request_api_enabled=True), 401, 404),
        (HttpSettings(flow_admin_enabled=True), 404, 401),
    ],
)
async def test_a_group_of_routes_that_is_off_does_not_exist(
    settings: HttpSettings, request_status: int, flow_status: int
) -> None:
    service = http_service(settings)
    assert (await service.client.post(f"{API}/requests")).status_code == request_status
    assert (await service.client.post(f"{API}/admin/flows")).status_code == flow_status
    assert (await service.client.get("/health/live")).status_code == 200


async def test_liveness_asks_nobody_and_readiness_says_why_not(service: HttpService) -> None:
    assert (await service.client.get("/health/ready")).status_code == 200
    service.not_ready.append("draining")
    answer = await service.client.get("/health/ready")
    problem = problem_of(answer, 503)
    assert problem["code"] == "NOT_READY"
    assert "draining" in str(problem["detail"])
    assert (await service.client.get("/health/live")).status_code == 200


@pytest.mark.parametrize(
    "error", [RuntimeError("PRIVATE"), LeaseLost("PRIVATE"), OrchestratorError("PRIVATE")]
)
async def test_what_is_not_expected_is_a_500_without_its_text_and_told_to_the_operators(
    error: Exception,
) -> None:
    service = http_service(create_request=failing(error))
    answer = await create(service)
    problem = problem_of(answer, 500)
    assert problem["code"] == "INTERNAL_ERROR"
    assert "PRIVATE" not in answer.text
    assert service.unexpected == [(error, problem["correlationId"])]


async def test_an_error_that_can_not_be_written_is_a_problem_all_the_same() -> None:
    class Code(StrEnum):
        DEFECT = "DEFECT"

    finding = Finding(code=Code.DEFECT, pointer="", message="PRIVATE")
    service = http_service(create_request=failing(FlowInvalid("PRIVATE", findings=[finding])))
    answer = await create(service)
    assert problem_of(answer, 500)["code"] == "INTERNAL_ERROR"
    assert "PRIVATE" not in answer.text
    assert [type(error) for error, _ in service.unexpected] == [InexactJson]


async def test_an_answer_that_can_not_be_written_is_our_fault_and_not_the_callers() -> None:
    class Kind(StrEnum):
        DEFECT = "DEFECT"

    with pytest.raises(AnswerUnwritable):
        json_response({"status": Kind.DEFECT})
    service = http_service(create_request=failing(AnswerUnwritable("PRIVATE")))
    assert problem_of(await create(service), 500)["code"] == "INTERNAL_ERROR"


async def test_a_store_that_does_not_answer_is_a_503_to_come_back_to() -> None:
    service = http_service(create_request=failing(StorageUnavailable("The store does not answer.")))
    answer = await create(service)
    assert problem_of(answer, 503)["code"] == "STORAGE_UNAVAILABLE"
    assert answer.headers["Retry-After"] == "2"
    assert not service.unexpected


async def test_a_failure_after_the_answer_has_begun_is_told_and_not_raised(service: HttpService) -> None:
    async def broken_pipe(message: Message) -> None:
        if message["type"] == "http.response.body":
            raise OSError("the client has gone")

    async def nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": "/health/live", "root_path": "", "headers": []}
    await service.app(scope, nothing, broken_pipe)
    assert [type(error) for error, _ in service.unexpected] == [OSError]


async def test_each_answer_is_told_by_its_template_and_never_by_its_path(service: HttpService) -> None:
    await service.call("GET", f"{API}/requests/4711")
    await service.call("BREW", "/some/where")
    told = [(answered.method, answered.route, answered.status) for answered in service.answered]
    assert told == [("GET", f"{API}/requests/{{requestId}}", 404), ("OTHER", None, 404)]


async def test_the_lifespan_of_a_server_is_answered(service: HttpService) -> None:
    incoming: list[Message] = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[Message] = []

    async def receive() -> Message:
        return incoming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    await service.app({"type": "lifespan"}, receive, send)
    assert [message["type"] for message in sent] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]


async def test_a_websocket_is_closed(service: HttpService) -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await service.app({"type": "websocket", "path": f"{API}/requests", "headers": []}, receive, send)
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_every_error_has_its_row_but_those_that_must_never_reach_a_client() -> None:
    assert codes_of_errors() - PROBLEMS.keys() <= UNTOLD
    assert not is_told(OrchestratorError("x"))


def test_the_table_has_no_row_that_no_error_leads_to() -> None:
    assert PROBLEMS.keys() <= codes_of_errors()


def codes_of_errors() -> set[str]:
    """Return the codes of all errors of the library and of this package, whatever has been imported by now."""
    ours = ("orchestrator_domain.", "orchestrator_http.")
    for package in (orchestrator_domain, orchestrator_http):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith("orchestrator_domain.testing"):
                import_module(module.name)
    return {error.code for error in every_error(OrchestratorError) if error.__module__.startswith(ours)}


def every_error(root: type[OrchestratorError]) -> list[type[OrchestratorError]]:
    return [root, *(below for child in root.__subclasses__() for below in every_error(child))]


def test_no_path_and_method_has_two_rows(service: HttpService) -> None:
    services = service.services
    rows = route_table(services, HttpSettings(request_api_enabled=True, flow_admin_enabled=True))
    assert len({(row.method, row.path) for row in rows}) == len(rows)


@pytest.mark.parametrize("key", ["a b", "-", "1abc", "%3Cscript%3E", "%C3%91", "k" * 101, "%F0%9F%98%80"])
async def test_what_can_not_be_a_key_names_nothing_and_creates_nothing(
    service: HttpService, key: str
) -> None:
    answer = await service.call(
        "PUT",
        f"{API}/admin/request-types/{key}/active-flow",
        body={"flowId": "01978c5e-0000-7000-8000-000000000001"},
        headers={"If-None-Match": "*"},
    )
    assert problem_of(answer, 404)["detail"] == "There is nothing with this key."
