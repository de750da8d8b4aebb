"""An integration is called over HTTP as its contract says, and its answer judged by it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from attrs import evolve
from tests.plugins.lending_catalogue import (
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

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    Unavailable,
    UnclearRefusal,
)
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.integration_catalogue import DeployedCatalogue
from orchestrator_worker.invoke_integration import InvokeIntegration
from orchestrator_worker.provider_client import ProviderClient

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
ANSWERS = {"404": {"kind": "result", "fields": {"found": {"literal": False}}}}


@pytest.fixture
async def provider() -> AsyncIterator[MisbehavingProvider]:
    async with misbehaving_provider() as running:
        yield running


async def attempted(
    catalogue: DeployedCatalogue, *, item: JsonValue = "ladder", contract_version: int | None = None
) -> ActionResult:
    contract = contract_of(catalogue, LOOKUP)
    if contract_version is not None:
        contract = evolve(contract, contract_version=contract_version)
    async with ProviderClient(values=DeploymentValues()) as client:
        handler = InvokeIntegration(route_for=catalogue.route_for, client=client, now=lambda: NOW)
        return await handler.execute(LOOKUP, attempt_at(contract, item=item))


def catalogue_at(base_url: str, **changes: Any) -> DeployedCatalogue:
    return deployed(catalogue_file(lookup_integration(answers=ANSWERS, **changes), base_url=base_url))


async def test_a_call_carries_the_input_and_the_keys_that_make_it_repeatable(
    provider: MisbehavingProvider,
) -> None:
    provider.script(answering(response(200, b'{"found": true, "shelf": "4", "weight": 1.5}')))
    result = await attempted(catalogue_at(provider.base_url), item="../secret?x=1")
    assert result == Succeeded(result={"found": True, "shelf": "4"})
    sent = provider.requests[0]
    assert (sent.method, sent.target) == ("GET", "/items/..%2Fsecret%3Fx%3D1")
    assert sent.headers["idempotency-key"] == "00000000-0000-0000-0000-0000000000e1:lookup"
    assert (sent.headers["x-fencing-token"], sent.headers["x-correlation-id"]) == ("7", "trace-1")


@pytest.mark.parametrize(
    ("behaviour", "result"),
    [
        (answering(response(404, b"<html>")), Succeeded(result={"found": False})),
        (answering(response(500, b'{"found": true}')), UnclearRefusal()),
        (answering(response(302, headers="Location: /x\r\n")), UnclearRefusal()),
        (answering(response(401)), Refused(error_code="PROVIDER_AUTHENTICATION")),
        (answering(response(422, b"{}")), Refused()),
        (answering(response(503, headers="Retry-After: 3\r\n")), Transient(retry_after_seconds=3)),
        (answering(response(429, headers="Retry-After: never\r\n")), Transient()),
        (answering(response(503, b"{", declared_length=50)), NoWholeAnswer()),
        (answering(response(200, b'{"found"', declared_length=50)), NoWholeAnswer()),
        (reset_before_reading, NoWholeAnswer()),
        (reset_after_reading, NoWholeAnswer()),
        (saying_nothing, NoWholeAnswer()),
        (dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b" "), NoWholeAnswer()),
        (dripping(b"HTTP/1.1 503 Busy\r\nContent-Length: 1000\r\n\r\n", b" "), NoWholeAnswer()),
    ],
)
async def test_whatever_the_provider_does_is_a_result(
    provider: MisbehavingProvider, behaviour: Behaviour, result: ActionResult
) -> None:
    provider.script(behaviour)
    hasty = {"connectSeconds": 5, "answerSeconds": Decimal("0.3"), "budgetSeconds": 10}
    assert await attempted(catalogue_at(provider.base_url, timeouts=hasty)) == result


@pytest.mark.parametrize(
    "answer",
    [
        response(200),
        response(200, b"<html>"),
        response(200, b'{"found": "true"}'),
        response(200, b'{"found": true, "found": true}'),
        response(200, b'{"found": true, "weight": 1e999999}'),
        response(204),
        bomb(1_000_000),
    ],
    ids=["empty", "html", "wrong type", "duplicate member", "absurd number", "no content", "bomb"],
)
async def test_a_success_that_breaks_its_contract_is_never_a_result(
    provider: MisbehavingProvider, answer: bytes
) -> None:
    provider.script(answering(answer))
    assert isinstance(await attempted(catalogue_at(provider.base_url)), ContractViolated)


async def test_an_error_keeps_its_meaning_however_large_it_is(provider: MisbehavingProvider) -> None:
    provider.script(answering(bomb(1_000_000).replace(b" 200 ", b" 503 ", 1)))
    assert await attempted(catalogue_at(provider.base_url)) == Transient()


async def test_a_provider_that_is_not_there_was_sent_nothing() -> None:
    async with misbehaving_provider() as gone:
        base_url = gone.base_url
    assert await attempted(catalogue_at(base_url)) == ProvenUnsent()


async def test_an_input_that_could_leave_its_segment_is_refused_unsent(provider: MisbehavingProvider) -> None:
    assert await attempted(catalogue_at(provider.base_url), item="..") == Refused(error_code="INPUT_REFUSED")
    assert provider.connections == 0


async def test_a_contract_without_a_route_is_unavailable(provider: MisbehavingProvider) -> None:
    result = await attempted(catalogue_at(provider.base_url), contract_version=2)
    assert result == Unavailable()
    assert provider.connections == 0
