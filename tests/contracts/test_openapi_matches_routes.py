"""The OpenAPI contract describes the routes that exist, no more and no less, and its own examples keep it."""

from collections.abc import Iterator
from typing import Any

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from tests.plugins.http_service import http_service
from tests.plugins.openapi_contract import Contract, openapi_contract

from orchestrator_http.problem import PROBLEMS
from orchestrator_http.routes import route_table
from orchestrator_http.routing import GuardedRoute, RouteEntry
from orchestrator_http.services import HttpSettings

PROBLEM_TYPE = "application/problem+json"
# Answered where no operation is: a method that a path hasn't.
CODES_BESIDE_OPERATIONS = {"METHOD_NOT_ALLOWED"}


@pytest.fixture(scope="module")
def contract() -> Contract:
    return openapi_contract()


def routes() -> tuple[RouteEntry, ...]:
    settings = HttpSettings(request_api_enabled=True, flow_admin_enabled=True, api_docs_enabled=True)
    return route_table(http_service().services, settings)


def test_the_contract_is_a_valid_openapi_document(contract: Contract) -> None:
    assert list(OpenAPIV31SpecValidator(dict(contract.document)).iter_errors()) == []


def test_contract_and_route_table_name_the_same_operations(contract: Contract) -> None:
    described = {(operation.method, operation.path) for operation in contract.operations()}
    assert described == {(route.method, route.path) for route in routes()}


def test_exactly_the_guarded_routes_ask_for_a_token(contract: Contract) -> None:
    guarded = {(route.method, route.path) for route in routes() if isinstance(route, GuardedRoute)}
    asking = {
        (operation.method, operation.path)
        for operation in contract.operations()
        if operation.content.get("security", contract.document["security"])
    }
    assert asking == guarded


def test_every_operation_has_a_name_of_its_own(contract: Contract) -> None:
    names = [operation.content["operationId"] for operation in contract.operations()]
    assert len(set(names)) == len(names)


def test_contract_and_problem_table_know_the_same_codes(contract: Contract) -> None:
    assert set(contract.document["components"]["schemas"]["ProblemCode"]["enum"]) == PROBLEMS.keys()


def test_every_code_has_an_example_under_its_own_status_and_title(contract: Contract) -> None:
    shown = set()
    for status, problem in problem_examples(contract):
        kind = PROBLEMS[problem["code"]]
        assert (str(kind.status), kind.title) == (status, problem["title"]), problem
        assert problem["type"] == f"/problems/{problem['code']}"
        shown.add(problem["code"])
    assert shown | CODES_BESIDE_OPERATIONS == PROBLEMS.keys()


def test_every_example_satisfies_its_schema(contract: Contract) -> None:
    checked = 0
    for name, schema, value in all_examples(contract):
        assert contract.faults(schema, value) == [], name
        checked += 1
    assert checked > 50


def test_every_answer_that_is_described_names_its_correlation_id(contract: Contract) -> None:
    for operation in contract.operations():
        for status, response in contract.responses(operation):
            assert "X-Correlation-Id" in response["headers"], (operation.path, status)


def test_who_may_name_a_correlation_id_may_name_a_place_in_a_trace(contract: Contract) -> None:
    taking = [
        {contract.resolved(parameter)["name"] for parameter in operation.content.get("parameters", ())}
        for operation in contract.operations()
    ]
    assert any("traceparent" in names for names in taking)
    assert all(("X-Correlation-Id" in names) == ("traceparent" in names) for names in taking)


def test_every_reference_leads_somewhere_and_every_component_is_used(contract: Contract) -> None:
    used = set(references(contract.document))
    for reference in used:
        assert contract.resolved({"$ref": reference})
    kinds = contract.document["components"].items()
    parts = {f"#/components/{kind}/{name}" for kind, members in kinds for name in members}
    assert parts - used == {"#/components/securitySchemes/accessToken"}


def problem_examples(contract: Contract) -> Iterator[tuple[str, Any]]:
    for operation in contract.operations():
        for status, response in contract.responses(operation):
            media = response.get("content", {}).get(PROBLEM_TYPE, {})
            for example in media.get("examples", {}).values():
                yield status, contract.resolved(example)["value"]


def all_examples(contract: Contract) -> Iterator[tuple[str, Any, Any]]:
    for operation in contract.operations():
        bodies = [response for _, response in contract.responses(operation)]
        if "requestBody" in operation.content:
            bodies.append(operation.content["requestBody"])
        for body in bodies:
            for media in body.get("content", {}).values():
                for name, example in media.get("examples", {}).items():
                    place = f"{operation.content['operationId']} {name}"
                    yield place, media["schema"], contract.resolved(example)["value"]


def references(node: Any) -> Iterator[str]:
    match node:
        case {"$ref": str(reference)}:
            yield reference
        case dict():
            for member in node.values():
                yield from references(member)
        case list():
            for element in node:
                yield from references(element)
        case _:
            return
