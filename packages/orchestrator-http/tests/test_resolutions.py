"""Operators see what stopped, page by page, and resolve it; everybody else learns nothing."""

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from tests.plugins.http_service import API, HttpService, http_service, json_of, problem_of, text_member
from tests.plugins.stopped_execution import EVIDENCE, accepted_execution, stop_what_is_due

from orchestrator_domain.exact_json.value import JsonObject, JsonValue

OPERATOR = {"sub": "operator-1", "roles": ["EXECUTION_OPERATOR"]}
CASES = f"{API}/admin/executions"
ABSENT: JsonObject = {"actionId": "lookup", "resolution": "RESUME_EFFECT_ABSENT", "evidence": EVIDENCE}
CLOSING: JsonObject = {**ABSENT, "resolution": "CLOSE_WITHOUT_TRANSITION"}
CONFIRMED: JsonObject = {**ABSENT, "resolution": "RESUME_WITH_RESULT", "result": {"found": True}}


@pytest.fixture
async def service() -> HttpService:
    service = http_service()
    await service.published_flow()
    return service


@pytest.fixture
async def stopped(service: HttpService) -> str:
    execution_id = await accepted_execution(service)
    await stop_what_is_due(service)
    return execution_id


async def resolve(
    service: HttpService,
    execution_id: str,
    body: JsonValue,
    *,
    actor: Mapping[str, Any] = OPERATOR,
    headers: Mapping[str, str] | None = None,
) -> httpx2.Response:
    return await service.call(
        "POST",
        f"{CASES}/{execution_id}/resolve",
        actor=actor,
        body=body,
        headers={"Idempotency-Key": "r"} if headers is None else headers,
    )


async def cases(service: HttpService, query: str = "", *, actor: Mapping[str, Any] = OPERATOR) -> Any:
    answer = await service.call("GET", f"{CASES}{query}", actor=actor)
    assert answer.status_code == 200, answer.text
    return json_of(answer)


async def test_an_operator_is_shown_the_facts_that_a_decision_needs(
    service: HttpService, stopped: str
) -> None:
    page = await cases(service)
    (case,) = page["items"]
    assert page["nextCursor"] is None
    assert case["executionId"] == stopped
    assert case["status"] == "RECONCILIATION_REQUIRED"
    assert (case["typeKey"], case["businessScope"], case["state"]) == ("LENDING", "NORTH", "OPEN")
    assert (case["flow"]["flowKey"], case["flow"]["version"]) == ("LENDING", 1)
    assert (case["event"], case["transitionId"], case["errorCode"]) == ("CHECK", "check", "PROVIDER_TIMEOUT")
    assert case["since"] >= case["createdAt"]
    assert (case["claims"], case["stop"]) == (1, 1)
    action = case["stoppedAction"]
    assert action["externalKey"] == f"{stopped}:lookup"
    assert (action["actionId"], action["status"], action["attempts"]) == ("lookup", "UNKNOWN", 1)
    assert (action["effect"], action["uncertain"]) == ("NON_IDEMPOTENT_WRITE", True)
    assert case["admits"] == ["RESUME_WITH_RESULT", "RESUME_EFFECT_ABSENT", "CLOSE_WITHOUT_TRANSITION"]


async def test_one_execution_is_shown_with_the_form_of_its_result_and_what_was_resolved(
    service: HttpService, stopped: str
) -> None:
    await resolve(service, stopped, CLOSING)
    answer = await service.call("GET", f"{CASES}/{stopped}", actor=OPERATOR)
    shown: Any = json_of(answer)
    assert (shown["status"], shown["stop"], shown["admits"]) == ("FAILED", None, [])
    assert shown["outputSchema"]["required"] == ["found"]
    assert [one["actionId"] for one in shown["actions"]] == ["lookup"]
    (resolution,) = shown["resolutions"]
    assert (resolution["resolution"], resolution["operator"]) == ("CLOSE_WITHOUT_TRANSITION", "operator-1")
    assert resolution["evidence"] == EVIDENCE
    assert resolution["correlationId"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (ABSENT, "PENDING", None),
        (CONFIRMED, "PENDING", None),
        (CLOSING, "FAILED", "CLOSED_WITHOUT_TRANSITION"),
    ],
    ids=["absent", "confirmed", "closed"],
)
async def test_a_resolution_is_answered_with_the_execution_and_a_repetition_with_the_same_one(
    service: HttpService, stopped: str, body: JsonObject, status: str, code: str | None
) -> None:
    answer = await resolve(service, stopped, body)
    assert answer.status_code == 200, answer.text
    shown: Any = json_of(answer)
    assert (shown["executionId"], shown["status"], shown["errorCode"]) == (stopped, status, code)
    assert shown["resolution"]["operator"] == "operator-1"
    assert "Idempotent-Replayed" not in answer.headers
    again = await resolve(service, stopped, body)
    assert again.status_code == 200
    assert again.headers["Idempotent-Replayed"] == "true"
    assert json_of(again) == shown


async def test_another_resolution_under_the_key_is_a_conflict_and_under_a_new_one_too_late(
    service: HttpService, stopped: str
) -> None:
    await resolve(service, stopped, ABSENT)
    other = await resolve(service, stopped, CLOSING)
    assert problem_of(other, 409)["code"] == "IDEMPOTENCY_CONFLICT"
    late = await resolve(service, stopped, CLOSING, headers={"Idempotency-Key": "r-2"})
    assert problem_of(late, 409)["code"] == "EXECUTION_NOT_RESOLVABLE"


async def test_a_resolution_of_an_earlier_stop_at_the_same_action_is_refused_and_one_of_this_stop_is_taken(
    service: HttpService, stopped: str
) -> None:
    (seen,) = (await cases(service))["items"]
    await resolve(service, stopped, {**ABSENT, "stop": seen["stop"]})
    await stop_what_is_due(service, seed=78)
    (now,) = (await cases(service))["items"]
    assert now["stop"] > seen["stop"]
    late = await resolve(
        service, stopped, {**ABSENT, "stop": seen["stop"]}, headers={"Idempotency-Key": "r-2"}
    )
    assert problem_of(late, 409)["code"] == "EXECUTION_NOT_RESOLVABLE"
    assert problem_of(late, 409)["pointer"] == "/stop"
    answer = await resolve(
        service, stopped, {**ABSENT, "stop": now["stop"]}, headers={"Idempotency-Key": "r-3"}
    )
    assert answer.status_code == 200


async def test_one_key_with_another_stop_is_a_conflict(service: HttpService, stopped: str) -> None:
    await resolve(service, stopped, {**ABSENT, "stop": 1})
    for other in ({**ABSENT, "stop": 2}, ABSENT):
        answer = await resolve(service, stopped, other)
        assert problem_of(answer, 409)["code"] == "IDEMPOTENCY_CONFLICT"


async def test_an_execution_that_does_not_wait_is_not_resolvable(service: HttpService) -> None:
    execution_id = await accepted_execution(service)
    answer = await resolve(service, execution_id, CLOSING)
    assert problem_of(answer, 409)["code"] == "EXECUTION_NOT_RESOLVABLE"


@pytest.mark.parametrize(
    ("change", "status", "pointer"),
    [
        ({"resolution": "SET_STATE"}, 400, "/resolution"),
        ({"result": {}}, 400, "/result"),
        ({"resolution": "RESUME_WITH_RESULT"}, 400, "/result"),
        ({"evidence": "seen"}, 400, "/evidence"),
        ({"evidence": {"text": "Seen."}}, 400, "/evidence/reference"),
        ({"evidence": {"text": "Seen.", "reference": "1", "by": "x"}}, 400, "/evidence/by"),
        ({"evidence": {"text": " ", "reference": "1"}}, 422, "/evidence/text"),
        ({"state": "LENT"}, 400, "/state"),
        ({"actionId": 7}, 400, "/actionId"),
        ({"actionId": "other"}, 409, "/actionId"),
        ({"stop": "1"}, 400, "/stop"),
        ({"stop": True}, 400, "/stop"),
        ({"stop": None}, 400, "/stop"),
        ({"stop": 0}, 400, "/stop"),
        ({"stop": 2}, 409, "/stop"),
        ({"resolution": "RESUME_WITH_RESULT", "result": {"found": 7}}, 422, "/result/found"),
    ],
)
async def test_a_resolution_that_can_t_be_taken_names_its_place_and_changes_nothing(
    service: HttpService, stopped: str, change: JsonObject, status: int, pointer: str
) -> None:
    before = await cases(service)
    answer = await resolve(service, stopped, {**ABSENT, **change})
    assert problem_of(answer, status)["pointer"] == pointer
    assert await cases(service) == before


async def test_a_resolution_needs_its_key_and_names_the_action_that_stopped(
    service: HttpService, stopped: str
) -> None:
    keyless = await resolve(service, stopped, ABSENT, headers={})
    assert problem_of(keyless, 400)["code"] == "IDEMPOTENCY_KEY_REQUIRED"
    nameless = {name: value for name, value in ABSENT.items() if name != "actionId"}
    answer = await resolve(service, stopped, nameless)
    assert problem_of(answer, 409)["code"] == "EXECUTION_NOT_RESOLVABLE"


@pytest.mark.parametrize(
    ("actor", "status"),
    [
        ({}, 403),
        ({"roles": ["FLOW_ADMIN", "AUDITOR"]}, 403),
        ({**OPERATOR, "business_scopes": ["SOUTH"]}, 404),
        # The owner of the request, as an operator of other scopes.
        ({"roles": ["EXECUTION_OPERATOR"], "business_scopes": []}, 404),
    ],
    ids=["clerk", "other-permissions", "elsewhere", "owner-elsewhere"],
)
async def test_only_operators_of_the_scope_see_and_resolve(
    service: HttpService, stopped: str, actor: Mapping[str, Any], status: int
) -> None:
    problem_of(await resolve(service, stopped, CLOSING, actor=actor), status)
    problem_of(await service.call("GET", f"{CASES}/{stopped}", actor=actor), status)
    listed = await service.call("GET", CASES, actor=actor)
    if status == 403:
        problem_of(listed, 403)
    else:
        assert json_of(listed)["items"] == []
    assert (await cases(service))["items"]


async def test_cases_are_read_page_by_page(service: HttpService) -> None:
    wanted = [await accepted_execution(service, key=f"stopped-{number}") for number in range(5)]
    await stop_what_is_due(service)
    seen: list[str] = []
    query = "?status=RECONCILIATION_REQUIRED&limit=2"
    cursor = ""
    while True:
        page = await cases(service, query + cursor)
        seen += [case["executionId"] for case in page["items"]]
        if page["nextCursor"] is None:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert seen == wanted


async def test_a_cursor_is_good_for_its_status_only(service: HttpService) -> None:
    for number in range(2):
        await accepted_execution(service, key=f"waiting-{number}")
    page = await cases(service, "?status=PENDING&limit=1")
    assert len(page["items"]) == 1
    other = await service.call("GET", f"{CASES}?status=RUNNING&cursor={page['nextCursor']}", actor=OPERATOR)
    assert problem_of(other, 400)["code"] == "INVALID_CURSOR"


@pytest.mark.parametrize("query", ["?status=SUCCEEDED", "?status=", "?state=OPEN", "?limit=0"])
async def test_a_query_that_can_t_be_taken_is_refused(service: HttpService, query: str) -> None:
    answer = await service.call("GET", f"{CASES}{query}", actor=OPERATOR)
    assert problem_of(answer, 400)["code"] == "INVALID_QUERY"


async def test_nothing_of_inputs_or_results_is_shown(service: HttpService, stopped: str) -> None:
    await resolve(service, stopped, {**CONFIRMED, "result": {"found": True, "shelf": "a-secret-shelf"}})
    for path in (CASES, f"{CASES}/{stopped}"):
        answer = await service.call("GET", path, actor=OPERATOR)
        assert "a-secret-shelf" not in answer.text
        assert "ladder" not in answer.text


async def test_an_applicant_reads_the_execution_s_end_as_before(service: HttpService, stopped: str) -> None:
    await resolve(service, stopped, CLOSING)
    shown = await service.call("GET", f"{API}/executions/{stopped}")
    assert text_member(shown, "errorCode") == "CLOSED_WITHOUT_TRANSITION"
    history = await service.call("GET", f"{API}/requests/{text_member(shown, 'requestId')}/history")
    items: Any = json_of(history)["items"]
    assert [entry["kind"] for entry in items][-2:] == ["RECONCILIATION_REQUIRED", "RECONCILIATION_RESOLVED"]
