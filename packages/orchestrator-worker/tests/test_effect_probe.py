"""A status query finds out about one call in doubt, and takes for a confirmation what its contract says and nothing else."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

import pytest
from attrs import evolve
from tests.plugins.lending_catalogue import (
    EXECUTION,
    LOOKUP,
    attempt_at,
    catalogue_file,
    contract_of,
    deployed,
    lookup_integration,
)
from tests.plugins.misbehaving_provider import (
    Behaviour,
    MisbehavingProvider,
    answering,
    bomb,
    dripping,
    misbehaving_provider,
    reset_after_reading,
    reset_before_reading,
    response,
    saying_nothing,
)

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.execution.probe import Confirmed, Inconclusive, NotFound, ProbeResult
from orchestrator_domain.flow.contract import ProbeContract
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.held_calls import HeldCalls
from orchestrator_worker.integration_catalogue import DeployedCatalogue
from orchestrator_worker.invoke_integration import InvokeIntegration
from orchestrator_worker.provider_client import ProviderClient

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
KEY = f"{EXECUTION}:lookup"
BY_PATH = {
    "method": "GET",
    "path": "/orders/by-key/{key}",
    "pathFields": {"key": {"call": "idempotencyKey"}},
}
BY_QUERY = {
    "method": "GET",
    "path": "/orders",
    "queryFields": {"key": {"call": "idempotencyKey"}, "item": {"input": "item"}},
}
FIELDS = {"found": {"answer": "/done"}, "shelf": {"answer": "/place"}}
ANSWERS = {"200": {"kind": "result", "fields": FIELDS}, "404": {"kind": "notFound"}}
SHORT = {"connectSeconds": Decimal("0.2"), "answerSeconds": Decimal("0.3"), "budgetSeconds": Decimal("0.6")}
PATIENT = {"connectSeconds": 5, "answerSeconds": 20, "budgetSeconds": 30}


def probe(**changes: Any) -> dict[str, Any]:
    return {"request": BY_PATH, "answers": ANSWERS, "providerReference": "/orderId", **changes}


def writing(asked: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Return an integration that writes and can be asked about."""
    return lookup_integration(effect="NON_IDEMPOTENT_WRITE", probe=asked or probe(), **changes)


def catalogue_at(base_url: str, asked: dict[str, Any] | None = None, **changes: Any) -> DeployedCatalogue:
    return deployed(catalogue_file(writing(asked, **changes), base_url=base_url))


@pytest.fixture
async def provider() -> AsyncIterator[MisbehavingProvider]:
    async with misbehaving_provider() as running:
        yield running


async def asked_at(catalogue: DeployedCatalogue) -> ProbeResult:
    async with ProviderClient(values=DeploymentValues()) as client:
        handler = InvokeIntegration(route_for=catalogue.route_for, client=client, now=lambda: NOW)
        return await handler.probe(LOOKUP, attempt_at(contract_of(catalogue, LOOKUP), item="ladder"))


async def test_the_call_is_looked_for_by_its_key_and_its_answer_is_the_actions_result(
    provider: MisbehavingProvider,
) -> None:
    provider.script(answering(response(200, b'{"done": true, "place": "4", "orderId": "ORD-1"}')))
    found = await asked_at(catalogue_at(provider.base_url))
    assert found == Confirmed(result={"found": True, "shelf": "4"}, provider_reference="ORD-1")
    (sent,) = provider.requests
    assert (sent.method, sent.target) == ("GET", f"/orders/by-key/{KEY.replace(':', '%3A')}")
    assert sent.body == b""


async def test_the_question_is_no_repetition_of_the_call(provider: MisbehavingProvider) -> None:
    provider.script(answering(response(404, b"{}")))
    await asked_at(catalogue_at(provider.base_url))
    (sent,) = provider.requests
    assert "idempotency-key" not in sent.headers
    assert sent.headers["x-correlation-id"] == "trace-1"


async def test_a_query_may_take_the_key_and_inputs_if_the_answer_repeats_the_key(
    provider: MisbehavingProvider,
) -> None:
    asked = probe(request=BY_QUERY, keyEcho="/key")
    body = dump_json({"key": KEY, "done": True}).encode()
    provider.script(answering(response(200, body)))
    found = await asked_at(catalogue_at(provider.base_url, asked))
    assert found == Confirmed(result={"found": True})
    assert provider.requests[0].target == f"/orders?key={KEY.replace(':', '%3A')}&item=ladder"


@pytest.mark.parametrize("echo", [{"key": "another"}, {"key": None}, {}, {"key": [KEY]}])
async def test_an_answer_about_another_call_confirms_nothing(
    provider: MisbehavingProvider, echo: dict[str, Any]
) -> None:
    asked = probe(request=BY_QUERY, keyEcho="/key")
    provider.script(answering(response(200, dump_json({**echo, "done": True}).encode())))
    found = await asked_at(catalogue_at(provider.base_url, asked))
    assert found == Inconclusive(error_code="PROBE_KEY_MISMATCH")


DRIPPING = dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" ")
SAYS_NOTHING: dict[str, tuple[Behaviour, str]] = {
    "an answer that breaks the output schema": (
        answering(response(200, b'{"done": "yes"}')),
        "CONTRACT_VIOLATION",
    ),
    "one that lacks a member": (answering(response(200, b"{}")), "CONTRACT_VIOLATION"),
    "one without a body": (answering(response(200, b"")), "CONTRACT_VIOLATION"),
    "a page": (answering(response(200, b"<html>It works!</html>")), "CONTRACT_VIOLATION"),
    "a list": (answering(response(200, b'[{"done": true}]')), "CONTRACT_VIOLATION"),
    "a bomb": (answering(bomb(1_000_000)), "CONTRACT_VIOLATION"),
    "another success": (answering(response(202, b'{"done": true}')), "PROVIDER_REJECTED"),
    "a redirect": (answering(response(302, b'{"done": true}')), "PROVIDER_REJECTED"),
    "a refusal": (answering(response(400, b'{"done": true}')), "PROVIDER_REJECTED"),
    "gone": (answering(response(410, b"{}")), "PROVIDER_REJECTED"),
    "not allowed": (answering(response(403, b'{"done": true}')), "PROVIDER_AUTHENTICATION"),
    "a failure": (answering(response(500, b'{"done": true}')), "PROVIDER_REJECTED"),
    "not now": (answering(response(503, b"{}")), "PROVIDER_UNAVAILABLE"),
    "silence": (saying_nothing, "PROVIDER_TIMEOUT"),
    "drops": (DRIPPING, "PROVIDER_TIMEOUT"),
    "a reset": (reset_before_reading, "PROVIDER_TIMEOUT"),
    "a late reset": (reset_after_reading, "PROVIDER_TIMEOUT"),
}


@pytest.mark.parametrize("name", SAYS_NOTHING)
async def test_whatever_else_comes_back_says_nothing(provider: MisbehavingProvider, name: str) -> None:
    behaviour, code = SAYS_NOTHING[name]
    provider.script(behaviour)
    timeouts = SHORT if behaviour in (saying_nothing, DRIPPING) else PATIENT
    found = await asked_at(catalogue_at(provider.base_url, timeouts=timeouts))
    assert isinstance(found, Inconclusive)
    assert found.error_code == code


async def test_not_found_is_said_only_where_the_contract_says_so(provider: MisbehavingProvider) -> None:
    provider.script(answering(response(404, b'{"error": "NO_SUCH_PATH"}')))
    assert await asked_at(catalogue_at(provider.base_url)) == NotFound()
    unsaid = probe(answers={"200": ANSWERS["200"]})
    found = await asked_at(catalogue_at(provider.base_url, unsaid))
    assert found == Inconclusive(error_code="PROVIDER_REJECTED")


async def test_a_provider_says_when_to_ask_again(provider: MisbehavingProvider) -> None:
    provider.script(answering(response(429, b"{}", headers="Retry-After: 17\r\n")))
    found = await asked_at(catalogue_at(provider.base_url))
    assert found == Inconclusive(error_code="PROVIDER_UNAVAILABLE", retry_after_seconds=17.0)


async def test_nobody_is_asked_where_nothing_listens_or_no_route_is_deployed() -> None:
    async with misbehaving_provider() as gone:
        base_url = gone.base_url
    catalogue = catalogue_at(base_url)
    assert await asked_at(catalogue) == Inconclusive(error_code="PROVIDER_UNREACHABLE")
    without = deployed(catalogue_file(lookup_integration(effect="NON_IDEMPOTENT_WRITE")))
    assert await asked_at(without) == Inconclusive(error_code="INTEGRATION_UNAVAILABLE")


async def test_an_open_circuit_keeps_questions_away_as_it_does_calls(provider: MisbehavingProvider) -> None:
    provider.script(answering(response(503, b"{}")))
    catalogue = catalogue_at(provider.base_url)
    context = attempt_at(contract_of(catalogue, LOOKUP), item="ladder")
    async with ProviderClient(values=DeploymentValues()) as client:
        calls = HeldCalls(client, clock=lambda: 0.0)
        handler = InvokeIntegration(
            route_for=catalogue.route_for, client=calls, now=lambda: NOW, kept_away=calls.kept_away
        )
        assert handler.held(LOOKUP, context) is None
        for _ in range(10):
            await handler.probe(LOOKUP, context)
        assert await handler.probe(LOOKUP, context) == Inconclusive(
            error_code="CIRCUIT_OPEN", retry_after_seconds=30.0
        )
        held = handler.held(LOOKUP, context)
        assert held is not None
        assert (held.error_code, held.retry_after_seconds) == ("CIRCUIT_OPEN", 30.0)
        assert len(provider.requests) == 10


def faults_of(**changes: Any) -> list[tuple[str, str]]:
    content = catalogue_file({**writing(), **changes})
    try:
        read_catalogue(dump_json(content), values=DeploymentValues())
    except CatalogueInvalid as invalid:
        return [(fault.pointer.removeprefix("/integrations/0"), fault.code) for fault in invalid.faults]
    return []


def confirming(fields: dict[str, Any], status: str = "200") -> dict[str, Any]:
    return {status: {"kind": "result", "fields": fields}}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"request": {**BY_PATH, "method": "POST"}}, ("/probe/request/method", "FORMAT")),
        ({"request": {**BY_PATH, "method": "DELETE"}}, ("/probe/request/method", "FORMAT")),
        ({"request": {**BY_PATH, "bodyFields": {}}}, ("/probe/request", "FORMAT")),
        ({"answers": {}}, ("/probe/answers", "FORMAT")),
        ({"answers": {"500": {"kind": "notFound"}}}, ("/probe/answers", "FORMAT")),
        ({"answers": {"200": {"kind": "result"}}}, ("/probe/answers/200", "FORMAT")),
        ({"answers": {"200": {"kind": "noEffect"}}}, ("/probe/answers/200", "FORMAT")),
        ({"askForSeconds": 90_000}, ("/probe/askForSeconds", "FORMAT")),
        ({"askForSeconds": 0}, ("/probe/askForSeconds", "FORMAT")),
        ({"request": {"method": "GET", "path": "/orders/last"}}, ("/probe/request", "PROBE_WITHOUT_KEY")),
        ({"request": BY_QUERY}, ("/probe", "PROBE_WITHOUT_ECHO")),
        (
            {"request": {**BY_PATH, "path": "/orders/{key}/{part}"}},
            ("/probe/request/path", "UNMAPPED_PATH_FIELD"),
        ),
        (
            {"request": {**BY_PATH, "queryFields": {"x": {"input": "nothing"}}}},
            ("/probe/request/queryFields/x", "UNKNOWN_INPUT"),
        ),
        ({"answers": {"404": {"kind": "notFound"}}}, ("/probe/answers", "PROBE_NEVER_CONFIRMS")),
        (
            {"answers": confirming(FIELDS, "409")},
            ("/probe/answers/409", "PROBE_CONFIRMS_WITHOUT_SUCCESS"),
        ),
        (
            {"answers": confirming({"found": {"literal": True}})},
            ("/probe/answers/200/fields", "PROBE_CONFIRMS_BLINDLY"),
        ),
        (
            # The shelf may be missing, so that an empty object would confirm.
            {"answers": confirming({"found": {"literal": True}, "shelf": {"answer": "/place"}})},
            ("/probe/answers/200/fields", "PROBE_CONFIRMS_BLINDLY"),
        ),
        (
            {"answers": confirming({**FIELDS, "weight": {"answer": "/weight"}})},
            ("/probe/answers/200/fields/weight", "UNKNOWN_OUTPUT"),
        ),
        (
            {"answers": confirming({"shelf": {"answer": "/place"}})},
            ("/probe/answers/200/fields", "UNMAPPED_OUTPUT"),
        ),
        ({"askForSeconds": 4}, ("/probe/askForSeconds", "PROBE_TIMES")),
        ({"backoffSeconds": 601}, ("/probe/backoffSeconds", "PROBE_TIMES")),
    ],
)
def test_a_probe_that_could_mislead_or_never_help_is_refused(
    changes: dict[str, Any], fault: tuple[str, str]
) -> None:
    assert faults_of(probe=probe(**changes)) == [fault]


def test_what_only_reads_has_no_probe() -> None:
    assert faults_of(effect="READ_ONLY") == [("/probe", "PROBE_NOT_NEEDED")]


def test_only_a_probe_is_given_the_key_as_a_field() -> None:
    request = {
        **cast("dict[str, Any]", writing()["request"]),
        "pathFields": {"item": {"call": "idempotencyKey"}},
    }
    assert faults_of(request=request) == [("/request/pathFields/item", "FORMAT")]


def checksum_with(asked: dict[str, Any]) -> str:
    return contract_of(catalogue_at("http://127.0.0.1:9", asked), LOOKUP).checksum


def test_what_a_probe_asks_and_believes_is_part_of_what_the_contract_means() -> None:
    plain = checksum_with(probe())
    without = deployed(catalogue_file(lookup_integration(effect="NON_IDEMPOTENT_WRITE")))
    meanings = {
        plain,
        contract_of(without, LOOKUP).checksum,
        checksum_with(probe(answers=confirming(FIELDS))),
        checksum_with(probe(providerReference="/id")),
        checksum_with(probe(keyEcho="/key")),
        checksum_with(probe(request={**BY_PATH, "path": "/payments/{key}"})),
    }
    assert len(meanings) == 6
    assert checksum_with(probe(askForSeconds=60, backoffSeconds=2)) == plain


def test_how_long_it_is_asked_is_the_deployments() -> None:
    contract = contract_of(
        catalogue_at("http://127.0.0.1:9", probe(askForSeconds=60, backoffSeconds=2)), LOOKUP
    )
    assert contract.probe == ProbeContract(ask_for_seconds=60.0, backoff_seconds=2.0)
    plain = contract_of(catalogue_at("http://127.0.0.1:9"), LOOKUP)
    assert plain.probe == ProbeContract(ask_for_seconds=600.0, backoff_seconds=5.0)
    assert evolve(plain, probe=None) != plain
