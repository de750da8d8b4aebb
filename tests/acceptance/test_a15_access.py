"""A15 roles and scopes of others: nothing is obtained, nothing is changed."""

import pytest
from tests.acceptance.credit import CreditRequest
from tests.plugins.api_user import User, code_of
from tests.plugins.running_service import AUTHOR_ROLES, RunningService


def _outsiders(service: RunningService) -> list[User]:
    return [
        service.user("analista-2", scopes=("SUCURSAL-2",)),
        service.user("analista-3", scopes=()),
        service.user("autora-2", roles=(*AUTHOR_ROLES, "ANALISTA"), scopes=("SUCURSAL-2",)),
    ]


def test_a15_outside_its_scope_a_request_and_its_executions_do_not_exist(
    credit: CreditRequest, service: RunningService
) -> None:
    execution = credit.assign()["executionId"]
    before = credit.shown()
    for outsider in _outsiders(service):
        for path in (f"/requests/{credit.id}", f"/executions/{execution}"):
            assert code_of(outsider.call("GET", path)) == (404, "NOT_FOUND")
        sent = outsider.send(credit.id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-70"}, tag="*")
        assert code_of(sent) == (404, "NOT_FOUND")
    assert credit.shown() == before


def test_a15_a_refusal_does_not_tell_whether_the_resource_exists(
    credit: CreditRequest, service: RunningService
) -> None:
    outsider = _outsiders(service)[0]
    existing = outsider.call("GET", f"/requests/{credit.id}")
    invented = outsider.call("GET", "/requests/00000000-0000-7000-8000-000000000000")

    told = [{**answer.json(), "correlationId": ""} for answer in (existing, invented)]
    assert told[0] == told[1]


def test_a15_an_event_needs_a_role_of_its_transition(credit: CreditRequest) -> None:
    before = credit.shown()

    refused = credit.applicant.send(credit.id, "ASIGNAR_CLIENTE", {"clienteId": "CLI-71"})

    assert code_of(refused) == (403, "ACCESS_DENIED")
    assert credit.shown() == before


def test_a15_a_role_is_taken_from_the_token_and_never_from_the_body(
    credit: CreditRequest, service: RunningService
) -> None:
    body = {"event": "ASIGNAR_CLIENTE", "data": {"clienteId": "CLI-71"}, "roles": ["ANALISTA"]}
    refused = credit.applicant.call(
        "POST",
        f"/requests/{credit.id}/events",
        body,
        headers={"Idempotency-Key": "k", "If-Match": "*", "X-Roles": "ANALISTA"},
    )

    assert code_of(refused) == (400, "INVALID_BODY")


def test_a15_a_creation_needs_a_role_of_the_flow_and_a_scope_of_one_s_own(
    service: RunningService, credit_type: str
) -> None:
    nobody = service.user("cajera-1", roles=("CAJERA",))
    assert code_of(nobody.try_to_create(credit_type)) == (403, "ACCESS_DENIED")

    elsewhere = {"typeKey": credit_type, "data": {}, "businessScope": "SUCURSAL-2"}
    refused = service.user().call("POST", "/requests", elsewhere, headers={"Idempotency-Key": "k"})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/admin/flows"),
        ("GET", "/admin/flows/{flow}"),
        ("POST", "/admin/flows/{flow}/validate"),
        ("POST", "/admin/flows/{flow}/publish"),
        ("PUT", "/admin/request-types/{type}/active-flow"),
        ("GET", "/admin/request-types/{type}"),
    ],
)
def test_a15_flows_are_administered_with_technical_roles_only(
    credit: CreditRequest, service: RunningService, credit_type: str, method: str, path: str
) -> None:
    flow = credit.shown()["flow"]["flowId"]
    place = path.format(flow=flow, type=credit_type)
    body = {"flowId": flow} if method == "PUT" else {}

    refused = service.user().call(method, place, None if method == "GET" else body, headers={"If-Match": "*"})
    unknown = service.stranger().call(method, place, None if method == "GET" else body)

    assert code_of(refused) == (403, "ACCESS_DENIED")
    assert code_of(unknown) == (401, "NOT_AUTHENTICATED")


def test_a15_without_a_token_there_is_nothing(credit: CreditRequest, service: RunningService) -> None:
    execution = credit.assign()["executionId"]
    for path in (f"/requests/{credit.id}", f"/executions/{execution}"):
        assert code_of(service.stranger().call("GET", path)) == (401, "NOT_AUTHENTICATED")
