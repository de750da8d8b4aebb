"""A catalogue file is read whole or refused with everything that is wrong with it."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.lending_catalogue import catalogue_file, lookup_integration

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import Effect, RetryContract
from orchestrator_worker.catalogue_document import CatalogueDocument, read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueInvalid
from orchestrator_worker.circuit_breaker import CircuitSettings
from orchestrator_worker.deployment_values import DeploymentValues, FromEnvironment, WrittenOut
from orchestrator_worker.route import CallLimit, ClientAuthentication, ClientCredentials, Timeouts

ROOT = Path(__file__).parents[3]
PUBLISHED_SCHEMA = ROOT / "contracts" / "schemas" / "integration-catalogue.schema.json"
PACKAGED_SCHEMA = (
    ROOT / "packages/orchestrator-worker/src/orchestrator_worker/integration-catalogue.schema.json"
)
VALUES = DeploymentValues(environment={"TOKEN": "secret-1", "SPACED": "a b"})


def read(content: JsonObject) -> CatalogueDocument:
    return read_catalogue(dump_json(content), values=VALUES)


def faults_of(content: JsonObject) -> list[tuple[str, str]]:
    with pytest.raises(CatalogueInvalid) as refusal:
        read(content)
    return [(fault.pointer, fault.code) for fault in refusal.value.faults]


def faults_of_integration(**changes: Any) -> list[tuple[str, str]]:
    found = faults_of(catalogue_file(lookup_integration(**changes)))
    return [(pointer.removeprefix("/integrations/0"), code) for pointer, code in found]


def endpoint(authentication: dict[str, Any], base_url: Any = "https://inventory.test") -> dict[str, Any]:
    return {"inventory": {"baseUrl": base_url, "authentication": authentication}}


def test_the_packaged_schema_is_the_published_one() -> None:
    assert PACKAGED_SCHEMA.read_bytes() == PUBLISHED_SCHEMA.read_bytes()


def test_everything_in_the_schema_that_a_reader_meets_is_described() -> None:
    def undescribed(node: Any, place: str) -> list[str]:
        if not isinstance(node, dict):
            return []
        missing = [
            f"{place}/{name}"
            for name, member in node.get("properties", {}).items()
            if not ("const" in member or "$ref" in member or {"title", "description"} <= member.keys())
        ]
        deeper = [found for name, child in node.items() for found in undescribed(child, f"{place}/{name}")]
        return missing + deeper

    schema = json.loads(PUBLISHED_SCHEMA.read_text())
    assert undescribed(schema, "") == []
    assert [
        name for name, node in schema["$defs"].items() if not {"title", "description"} <= node.keys()
    ] == []


def test_the_sandbox_catalogue_is_sound() -> None:
    text = (ROOT / "examples" / "catalogue" / "sandbox.json").read_bytes()
    values = DeploymentValues(environment={"PROVIDERS_URL": "http://127.0.0.1:9000"})
    document = read_catalogue(text, values=values)
    assert [integration.key for integration in document.integrations] == [
        "CLIENTES_CONSULTA",
        "DOCUMENTO_VALIDA",
        "BURO_CONSULTA",
        "PAGO_AUTORIZACION",
        "PAGO_AUTORIZACION",
    ]
    assert document.document_service is not None


def test_an_empty_catalogue_is_sound() -> None:
    assert read({"catalogueVersion": 1}) == CatalogueDocument()


def test_what_is_left_out_has_the_documented_defaults() -> None:
    integration = read(catalogue_file(lookup_integration())).integrations[0]
    assert integration.route.timeouts == Timeouts(connect_seconds=2, answer_seconds=10, budget_seconds=15)
    assert integration.retry == RetryContract(
        attempts_max=3, backoff_seconds=2, backoff_max_seconds=60, retry_after_max_seconds=300
    )
    assert (integration.route.answer_bytes_max, integration.route.endpoint.connections_max) == (262_144, 20)


def test_what_is_written_is_read() -> None:
    written = lookup_integration(
        effect="IDEMPOTENT_WRITE",
        keyMemorySeconds=86_400,
        timeouts={"connectSeconds": Decimal("0.5"), "answerSeconds": 3, "budgetSeconds": 4},
        retry={"attemptsMax": 5, "backoffSeconds": 1, "backoffMaxSeconds": 8, "retryAfterMaxSeconds": 30},
        answerBytesMax=1024,
    )
    integration = read(catalogue_file(written)).integrations[0]
    assert (integration.effect, integration.key_memory_seconds) == (Effect.IDEMPOTENT_WRITE, 86_400)
    assert integration.route.timeouts == Timeouts(
        connect_seconds=0.5, answer_seconds=3, budget_seconds=4, is_budget_written=True
    )
    assert integration.retry.attempts_max == 5
    assert integration.route.answer_bytes_max == 1024


@pytest.mark.parametrize(
    ("written", "connect", "answer"),
    [
        ({"budgetSeconds": 6}, 1, 5),
        ({"budgetSeconds": 12}, 2, 10),
        ({"budgetSeconds": 40}, 2, 10),
        ({"budgetSeconds": 6, "connectSeconds": 4}, 4, 2),
        ({"budgetSeconds": 6, "answerSeconds": 5}, 1, 5),
        ({"answerSeconds": 14}, 1, 14),
    ],
)
def test_default_times_give_way_to_what_is_written(
    written: dict[str, Any], connect: float, answer: float
) -> None:
    timeouts = read(catalogue_file(lookup_integration(timeouts=written))).integrations[0].route.timeouts
    assert (timeouts.connect_seconds, timeouts.answer_seconds) == (connect, answer)


def messages_of(content: JsonObject) -> list[str]:
    with pytest.raises(CatalogueInvalid) as refusal:
        read(content)
    return [fault.message for fault in refusal.value.faults]


def test_unknown_members_are_named() -> None:
    assert messages_of(catalogue_file(lookup_integration(timeout=1, retires=2))) == [
        'The schema doesn\'t allow "timeout", "retires" here.'
    ]
    signing_in = endpoint({"kind": "bearer", "secret": {"env": "TOKEN"}, "tokn": 1})
    assert messages_of(catalogue_file(endpoints=signing_in)) == ['The schema doesn\'t allow "tokn" here.']


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"catalogueVersion": 1, "catalogueVersion": 1}', b"\xef\xbb\xbf{}", b'{"a": NaN}'],
)
def test_a_file_that_is_no_strict_json_is_refused(text: bytes) -> None:
    with pytest.raises(CatalogueInvalid) as refusal:
        read_catalogue(text, values=VALUES)
    assert [fault.code for fault in refusal.value.faults] == ["MALFORMED_JSON"]


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({}, ""),
        ({"catalogueVersion": 2}, "/catalogueVersion"),
        ({"catalogueVersion": 1, "integration": []}, ""),
        ({"catalogueVersion": 1, "endpoints": {"9": {}}}, "/endpoints"),
        (
            {"catalogueVersion": 1, "documentService": {"endpoint": "a", "path": "/x"}},
            "/documentService/path",
        ),
    ],
)
def test_a_file_that_breaks_the_format_is_refused_at_the_place(content: JsonObject, place: str) -> None:
    assert (place, "FORMAT") in faults_of(content)


def test_no_value_that_is_no_object_crashes_the_reader() -> None:
    for text in ("null", "[]", "1", '"a"'):
        with pytest.raises(CatalogueInvalid):
            read_catalogue(text, values=VALUES)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"endpoint": "nowhere"}, ("/endpoint", "UNKNOWN_ENDPOINT")),
        ({"effect": "IDEMPOTENT_WRITE"}, ("", "KEY_MEMORY")),
        ({"keyMemorySeconds": 10}, ("/keyMemorySeconds", "KEY_MEMORY")),
        ({"outputSchema": {"type": "array"}}, ("/outputSchema", "NOT_AN_OBJECT_SCHEMA")),
        (
            {"outputSchema": {"type": "object", "properties": {"a": {"type": "text"}}}},
            ("/outputSchema/properties/a/type", "NOT_A_SCHEMA"),
        ),
        (
            {"outputSchema": {"type": "object", "$ref": "http://other.test"}},
            ("/outputSchema/$ref", "REMOTE_REFERENCE"),
        ),
        ({"timeouts": {"answerSeconds": 20}}, ("/timeouts/answerSeconds", "BUDGET_TOO_SMALL")),
        ({"timeouts": {"connectSeconds": 15}}, ("/timeouts/connectSeconds", "BUDGET_TOO_SMALL")),
        (
            {"timeouts": {"connectSeconds": 2, "answerSeconds": 3, "budgetSeconds": 4}},
            ("/timeouts/budgetSeconds", "BUDGET_TOO_SMALL"),
        ),
        ({"answers": {"201": {"kind": "noEffect"}}}, ("/answers/201", "SUCCESS_IS_RESULT")),
        (
            {"answers": {"404": {"kind": "result", "fields": {"lost": {"literal": True}}}}},
            ("/answers/404/fields/lost", "UNKNOWN_OUTPUT"),
        ),
        (
            {
                "profiles": [
                    {"profile": "A", "profileVersion": 1},
                    {"profile": "A", "profileVersion": Decimal("1.0")},
                ]
            },
            ("/profiles/1", "DUPLICATE_VERSION"),
        ),
        ({"answers": {"401": {"kind": "result"}}}, ("/answers", "FORMAT")),
        ({"answers": {"302": {"kind": "result"}}}, ("/answers", "FORMAT")),
        ({"retry": {"attemptsMax": 1_000_000}}, ("/retry/attemptsMax", "FORMAT")),
        ({"effect": "WRITE"}, ("/effect", "FORMAT")),
    ],
)
def test_an_integration_that_could_not_be_called_or_judged_is_refused(
    changes: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert faults_of_integration(**changes) == [fault]


@pytest.mark.parametrize(
    ("request_changes", "fault"),
    [
        ({"path": "/items/{other}"}, ("/request/path", "UNMAPPED_PATH_FIELD")),
        ({"path": "/items/../{item}"}, ("/request/path", "DOT_SEGMENT")),
        (
            {"pathFields": {"item": {"input": "item"}, "x": {"input": "item"}}},
            ("/request/pathFields/x", "UNKNOWN_PATH_FIELD"),
        ),
        ({"pathFields": {"item": {"input": "nothing"}}}, ("/request/pathFields/item", "UNKNOWN_INPUT")),
        ({"pathFields": {"item": {"input": "shelf"}}}, ("/request/pathFields/item", "OPTIONAL_PATH_FIELD")),
        ({"pathFields": {"item": {"literal": {}}}}, ("/request/pathFields/item", "NOT_A_SCALAR")),
        ({"queryFields": {"p": {"contract": "profile"}}}, ("/request/queryFields/p", "NO_PROFILES")),
        ({"bodyFields": {"a": {"literal": 1}}}, ("/request/bodyFields", "BODY_NOT_SENT")),
        ({"path": "items/{item}"}, ("/request/path", "FORMAT")),
        ({"path": "//evil.test/{item}"}, ("/request/path", "FORMAT")),
        ({"path": "/items?x={item}"}, ("/request/path", "FORMAT")),
        ({"method": "TRACE"}, ("/request/method", "FORMAT")),
    ],
)
def test_a_request_that_could_not_be_put_together_is_refused(
    request_changes: dict[str, Any], fault: tuple[str, str]
) -> None:
    request = {**lookup_integration()["request"], **request_changes}
    assert fault in faults_of_integration(request=request)


def test_one_version_of_a_contract_is_listed_once() -> None:
    twice = catalogue_file(lookup_integration(), lookup_integration())
    assert faults_of(twice) == [("/integrations/1/contractVersion", "DUPLICATE_VERSION")]


@pytest.mark.parametrize(
    ("endpoints", "fault"),
    [
        (endpoint({"kind": "none"}, {"env": "MISSING"}), ("/endpoints/inventory/baseUrl", "ADDRESS")),
        (endpoint({"kind": "none"}, "http://a\\@b"), ("/endpoints/inventory/baseUrl", "ADDRESS")),
        (
            endpoint({"kind": "bearer", "secret": {"env": "MISSING"}}),
            ("/endpoints/inventory/authentication/secret", "SECRET"),
        ),
        (
            endpoint({"kind": "bearer", "secret": {"env": "SPACED"}}),
            ("/endpoints/inventory/authentication/secret", "SECRET"),
        ),
        (
            endpoint({"kind": "bearer", "secret": {"file": "/no/such"}}),
            ("/endpoints/inventory/authentication/secret", "SECRET"),
        ),
        (
            endpoint({"kind": "bearer", "secret": "written-out"}),
            ("/endpoints/inventory/authentication/secret", "FORMAT"),
        ),
        (
            endpoint({"kind": "apiKeyHeader", "header": "Idempotency-Key", "secret": {"env": "TOKEN"}}),
            ("/endpoints/inventory/authentication/header", "RESERVED_HEADER"),
        ),
    ],
)
def test_an_endpoint_that_could_not_be_reached_or_signed_in_to_is_refused(
    endpoints: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert fault in faults_of(catalogue_file(endpoints=endpoints))


def test_a_secret_is_never_told() -> None:
    content = catalogue_file(endpoints=endpoint({"kind": "bearer", "secret": {"env": "SPACED"}}))
    with pytest.raises(CatalogueInvalid) as refusal:
        read(content)
    assert "a b" not in str(refusal.value)


def test_every_fault_comes_at_once_and_one_broken_entry_hides_no_other() -> None:
    content = catalogue_file(
        lookup_integration(effect="WRITE", endpoint="nowhere"),
        lookup_integration(endpoint="nowhere", keyMemorySeconds=1),
        documentService={"endpoint": "nowhere"},
        more=1,
    )
    assert set(faults_of(content)) == {
        ("", "FORMAT"),
        ("/integrations/0/effect", "FORMAT"),
        ("/integrations/1/endpoint", "UNKNOWN_ENDPOINT"),
        ("/integrations/1/keyMemorySeconds", "KEY_MEMORY"),
        ("/documentService/endpoint", "UNKNOWN_ENDPOINT"),
    }


@pytest.mark.parametrize(
    ("base_url", "changes"),
    [
        ("http://127.0.0.1:8080/v1", {}),
        ("http://[::1]:8080", {}),
        ("http://localhost", {}),
        ("http://inventory.test", {"allowPlainHttp": True}),
    ],
)
def test_plain_http_is_for_this_machine_and_where_the_catalogue_says_so(
    base_url: str, changes: dict[str, Any]
) -> None:
    written = endpoint({"kind": "bearer", "secret": {"env": "TOKEN"}}, base_url)
    written["inventory"] |= changes
    assert read(catalogue_file(endpoints=written)).endpoints["inventory"].base_url == WrittenOut(
        value=base_url
    )


OAUTH = {
    "kind": "oauth2ClientCredentials",
    "tokenUrl": "https://issuer.test/token",
    "clientId": "desk-1",
    "secret": {"env": "TOKEN"},
}


def test_an_endpoint_with_everything_is_read() -> None:
    written = endpoint({**OAUTH, "scope": "a b", "clientAuthentication": "body"})
    written["inventory"] |= {
        "allowedNetworks": ["10.0.0.0/8", "::1/128"],
        "circuitBreaker": {"failuresToOpen": 2, "openSeconds": 5, "openMaxSeconds": 50},
    }
    read_endpoint = read(catalogue_file(endpoints=written)).endpoints["inventory"]
    assert read_endpoint.authentication == ClientCredentials(
        token_url=WrittenOut(value="https://issuer.test/token"),
        client_id="desk-1",
        secret=FromEnvironment(variable="TOKEN"),
        scope="a b",
        client_authentication=ClientAuthentication.BODY,
    )
    assert [str(network) for network in read_endpoint.networks] == ["10.0.0.0/8", "::1/128"]
    assert read_endpoint.circuit == CircuitSettings(failures_to_open=2, open_seconds=5, open_seconds_max=50)


@pytest.mark.parametrize(
    ("authentication", "changes", "fault"),
    [
        ({**OAUTH, "tokenUrl": "issuer.test"}, {}, ("/authentication/tokenUrl", "ADDRESS")),
        ({**OAUTH, "tokenUrl": {"env": "NONE"}}, {}, ("/authentication/tokenUrl", "ADDRESS")),
        ({**OAUTH, "secret": {"env": "NONE"}}, {}, ("/authentication/secret", "SECRET")),
        ({**OAUTH, "scope": 'a "b"'}, {}, ("/authentication/scope", "FORMAT")),
        (OAUTH, {"allowedNetworks": ["10.0.0.1/8"]}, ("/allowedNetworks/0", "NETWORK")),
        (OAUTH, {"allowedNetworks": ["10.0.0.0/33"]}, ("/allowedNetworks/0", "NETWORK")),
        (OAUTH, {"allowedNetworks": ["10.0.0.0"]}, ("/allowedNetworks/0", "FORMAT")),
        (OAUTH, {"circuitBreaker": {"openSeconds": 400}}, ("/circuitBreaker", "CIRCUIT_TIMES")),
        (OAUTH, {"baseUrl": "http://inventory.test"}, ("/baseUrl", "PLAIN_HTTP")),
        ({"kind": "none"}, {"baseUrl": "http://127.0.0.1.inventory.test"}, ("/baseUrl", "PLAIN_HTTP")),
        (
            {**OAUTH, "tokenUrl": "http://issuer.test/token"},
            {"allowPlainHttp": False},
            ("/authentication/tokenUrl", "PLAIN_HTTP"),
        ),
        (OAUTH, {"authorities": {"env": "TOKEN"}}, ("/authorities", "CERTIFICATE")),
    ],
)
def test_what_could_not_be_used_of_an_endpoint_is_refused_at_its_place(
    authentication: dict[str, Any], changes: dict[str, Any], fault: tuple[str, str]
) -> None:
    written = endpoint(authentication)
    written["inventory"] |= changes
    found = faults_of(catalogue_file(endpoints=written))
    assert [(pointer.removeprefix("/endpoints/inventory"), code) for pointer, code in found] == [fault]


def test_limits_of_calls_and_of_parking_are_read() -> None:
    written = lookup_integration(callsMax=4, retry={"parkedMaxSeconds": 60})
    integration = read(catalogue_file(written)).integrations[0]
    assert integration.route.limit == CallLimit(name="integration INVENTORY_LOOKUP 1", calls_max=4)
    assert integration.retry.parked_seconds_max == 60
