"""What a call comes to, against a provider that does its worst on a real connection."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from attrs import evolve
from tests.plugins.misbehaving_provider import (
    Behaviour,
    MisbehavingProvider,
    answering,
    answering_unasked,
    bomb,
    dripping,
    misbehaving_provider,
    reset_after_reading,
    reset_at_second_request,
    reset_before_reading,
    response,
    saying_nothing,
)

from orchestrator_worker.deployment_values import DeploymentValues, FromEnvironment, FromFile, WrittenOut
from orchestrator_worker.provider_answer import (
    Answer,
    BodyFault,
    HeldBack,
    HoldReason,
    Json,
    NoAnswer,
    NoJson,
    NotConfigured,
    NotConnected,
)
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import (
    ApiKeyHeader,
    Authentication,
    BasicCredentials,
    BearerToken,
    Endpoint,
    NoAuthentication,
    Timeouts,
)

LOOPBACK = (ip_network("127.0.0.0/8"),)
PATIENT = Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=30)
HASTY = Timeouts(connect_seconds=5, answer_seconds=0.2, budget_seconds=30)
FOUND = response(200, b'{"found": true}')


@pytest.fixture
async def provider() -> AsyncIterator[MisbehavingProvider]:
    async with misbehaving_provider() as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[ProviderClient]:
    environment = {"TOKEN": "secret-1", "BROKEN": "secret\r\nX-Injected: 1"}
    async with ProviderClient(values=DeploymentValues(environment=environment)) as running:
        yield running


def request_to(
    base_url: str,
    *,
    timeouts: Timeouts = PATIENT,
    authentication: Authentication | None = None,
    connections_max: int = 5,
    body: bytes | None = None,
) -> ProviderRequest:
    return ProviderRequest(
        endpoint=Endpoint(
            name="inventory",
            base_url=WrittenOut(value=base_url),
            authentication=authentication or NoAuthentication(),
            connections_max=connections_max,
            networks=LOOPBACK,
            allow_plain_http=True,
        ),
        method="GET" if body is None else "POST",
        target="/items/ladder%2F3?shelf=a%26b",
        body=body,
        headers={"Idempotency-Key": "key-1"},
        timeouts=timeouts,
        answer_bytes_max=1000,
    )


async def test_a_whole_answer_is_its_status_headers_and_exact_value(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(answering(response(203, b'{"price": 1.10}', headers="X-Shelf: 4\r\n")))
    answer = await client.call(request_to(provider.base_url))
    assert isinstance(answer, Answer)
    assert (answer.status, answer.headers["x-shelf"]) == (203, "4")
    assert isinstance(answer.body, Json)
    assert str(answer.body.value) == "{'price': Decimal('1.10')}"


async def test_the_target_is_sent_as_it_was_encoded(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(answering(FOUND))
    await client.call(request_to(provider.base_url + "/v1/"))
    assert provider.requests[0].target == "/v1/items/ladder%2F3?shelf=a%26b"


async def test_a_body_is_sent_as_json(provider: MisbehavingProvider, client: ProviderClient) -> None:
    provider.script(answering(FOUND))
    await client.call(request_to(provider.base_url, body=b'{"item":1.10}'))
    sent = provider.requests[0]
    assert (sent.method, sent.body) == ("POST", b'{"item":1.10}')
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["idempotency-key"] == "key-1"


async def test_a_refused_connection_proves_that_nothing_was_sent(client: ProviderClient) -> None:
    async with misbehaving_provider() as gone:
        base_url = gone.base_url
    assert await client.call(request_to(base_url)) == NotConnected()


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 64 + ".invalid"])
async def test_an_unknown_host_proves_that_nothing_was_sent(client: ProviderClient, host: str) -> None:
    assert await client.call(request_to(f"http://{host}")) == NotConnected()


async def test_a_failed_tls_handshake_proves_that_nothing_was_sent(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(answering_unasked)
    base_url = provider.base_url.replace("http://", "https://")
    assert await client.call(request_to(base_url)) == NotConnected()


async def test_waiting_in_vain_for_a_free_connection_holds_the_call_back(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(saying_nothing)
    first = asyncio.create_task(client.call(request_to(provider.base_url, connections_max=1)))
    await provider.received.wait()
    impatient = Timeouts(connect_seconds=0.05, answer_seconds=20, budget_seconds=30)
    second = request_to(provider.base_url, timeouts=impatient, connections_max=1)
    assert await client.call(second) == HeldBack(reason=HoldReason.BUSY, retry_after_seconds=5.0)
    first.cancel()


@pytest.mark.parametrize(
    "behaviour",
    [
        reset_before_reading,
        reset_after_reading,
        answering(response(200, b'{"found"', declared_length=100)),
        answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}"),
        answering(b"HTTP/1.1 200 OK\r\nContent-Le"),
        answering(b"\x00\xff this is no HTTP at all\r\n\r\n"),
        answering(b""),
    ],
    ids=[
        "reset before reading",
        "reset after reading",
        "shorter than declared",
        "chunks that end early",
        "head that ends early",
        "garbage instead of a head",
        "closed without a word",
    ],
)
async def test_what_breaks_off_after_sending_proves_nothing(
    provider: MisbehavingProvider, client: ProviderClient, behaviour: Behaviour
) -> None:
    provider.script(behaviour)
    assert await client.call(request_to(provider.base_url)) == NoAnswer()


async def test_a_kept_connection_that_is_reset_when_used_again_proves_nothing(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(reset_at_second_request)
    assert isinstance(await client.call(request_to(provider.base_url)), Answer)
    assert await client.call(request_to(provider.base_url)) == NoAnswer()
    assert (provider.connections, len(provider.requests)) == (1, 2)


@pytest.mark.parametrize(
    "behaviour",
    [
        saying_nothing,
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
        dripping(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
        dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    ],
    ids=["silence", "dripping body", "endless headers", "endless interim answers"],
)
async def test_an_answer_that_takes_too_long_is_cut(
    provider: MisbehavingProvider, client: ProviderClient, behaviour: Behaviour
) -> None:
    provider.script(behaviour)
    assert await client.call(request_to(provider.base_url, timeouts=HASTY)) == NoAnswer()


async def test_the_budget_cuts_what_the_time_to_answer_would_allow(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(saying_nothing)
    tight = Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=0.2)
    assert await client.call(request_to(provider.base_url, timeouts=tight)) == NoAnswer()


async def test_a_cut_call_gives_its_connection_back(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(saying_nothing, saying_nothing, answering(FOUND))
    for _ in range(2):
        cut = request_to(provider.base_url, timeouts=HASTY, connections_max=1)
        assert await client.call(cut) == NoAnswer()
    assert isinstance(await client.call(request_to(provider.base_url, connections_max=1)), Answer)


async def test_a_cancelled_caller_gives_its_connection_back(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(saying_nothing, answering(FOUND))
    call = asyncio.create_task(client.call(request_to(provider.base_url, connections_max=1)))
    await provider.received.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert isinstance(await client.call(request_to(provider.base_url, connections_max=1)), Answer)


async def test_a_redirect_is_an_answer_and_is_not_followed(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    provider.script(answering(response(302, headers=f"Location: {provider.base_url}/elsewhere\r\n")))
    answer = await client.call(request_to(provider.base_url))
    assert isinstance(answer, Answer)
    assert (answer.status, len(provider.requests)) == (302, 1)


async def test_a_cookie_is_not_sent_back(provider: MisbehavingProvider, client: ProviderClient) -> None:
    provider.script(answering(response(200, b"{}", headers="Set-Cookie: session=1\r\n"), FOUND))
    await client.call(request_to(provider.base_url))
    await client.call(request_to(provider.base_url))
    assert "cookie" not in provider.requests[1].headers


async def test_a_proxy_of_the_environment_is_not_used(
    provider: MisbehavingProvider, client: ProviderClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(variable, "http://127.0.0.1:1")
    provider.script(answering(FOUND))
    assert isinstance(await client.call(request_to(provider.base_url)), Answer)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (response(200), BodyFault.EMPTY),
        (response(200, b"<html>"), BodyFault.MALFORMED),
        (response(200, b'{"found": true, "found": false}'), BodyFault.MALFORMED),
        (response(200, b'{"score": 1e999999}'), BodyFault.MALFORMED),
        (response(200, b'{"score": NaN}'), BodyFault.MALFORMED),
        (response(200, b'{"name": "\\u0000"}'), BodyFault.MALFORMED),
        (response(200, b'{"name": "\\ud800"}'), BodyFault.MALFORMED),
        (response(200, b"[" * 900), BodyFault.MALFORMED),
        (response(200, b'{"name": "\xff"}'), BodyFault.MALFORMED),
        (response(200, b" " * 1001), BodyFault.TOO_LARGE),
        (bomb(30_000_000), BodyFault.TOO_LARGE),
        (response(200, b"no gzip", headers="Content-Encoding: gzip\r\n"), BodyFault.MALFORMED),
        (response(200, b"{}", headers="Content-Encoding: br\r\n"), BodyFault.UNKNOWN_ENCODING),
        (response(200, b"{}", headers="Content-Encoding: gzip, gzip\r\n"), BodyFault.UNKNOWN_ENCODING),
    ],
    ids=[
        "empty",
        "html",
        "duplicate members",
        "absurd exponent",
        "not a number",
        "nul",
        "lone surrogate",
        "deep nesting",
        "not utf-8",
        "too large",
        "bomb",
        "broken gzip",
        "encoding that wasn't offered",
        "gzip in gzip",
    ],
)
async def test_a_body_that_is_no_usable_json_is_told_apart_from_the_answer(
    provider: MisbehavingProvider, client: ProviderClient, answer: bytes, fault: BodyFault
) -> None:
    provider.script(answering(answer))
    outcome = await client.call(request_to(provider.base_url))
    assert isinstance(outcome, Answer)
    assert (outcome.status, outcome.body) == (200, NoJson(fault=fault))


async def test_a_compressed_answer_is_read(provider: MisbehavingProvider, client: ProviderClient) -> None:
    packed = gzip.compress(b'{"found": true}')
    provider.script(answering(response(200, packed, headers="Content-Encoding: gzip\r\n")))
    outcome = await client.call(request_to(provider.base_url))
    assert isinstance(outcome, Answer)
    assert outcome.body == Json(value={"found": True})


@pytest.mark.parametrize(
    ("authentication", "header", "value"),
    [
        (BearerToken(secret=FromEnvironment(variable="TOKEN")), "authorization", "Bearer secret-1"),
        (
            BasicCredentials(username="desk", secret=FromEnvironment(variable="TOKEN")),
            "authorization",
            "Basic ZGVzazpzZWNyZXQtMQ==",
        ),
        (
            ApiKeyHeader(header="X-Api-Key", secret=FromEnvironment(variable="TOKEN")),
            "x-api-key",
            "secret-1",
        ),
    ],
)
async def test_a_call_signs_in_as_its_endpoint_says(
    provider: MisbehavingProvider,
    client: ProviderClient,
    authentication: Authentication,
    header: str,
    value: str,
) -> None:
    provider.script(answering(FOUND))
    await client.call(request_to(provider.base_url, authentication=authentication))
    assert provider.requests[0].headers[header] == value


@pytest.mark.parametrize("variable", ["MISSING", "BROKEN"])
async def test_a_secret_that_cannot_be_used_lets_nothing_leave(
    provider: MisbehavingProvider, client: ProviderClient, variable: str
) -> None:
    authentication = BearerToken(secret=FromEnvironment(variable=variable))
    request = request_to(provider.base_url, authentication=authentication)
    assert await client.call(request) == NotConfigured()
    assert provider.connections == 0


async def test_an_address_and_a_secret_in_files_may_change_between_two_calls(tmp_path: Path) -> None:
    address, secret = tmp_path / "address", tmp_path / "secret"
    async with (
        misbehaving_provider() as old,
        misbehaving_provider() as new,
        ProviderClient(values=DeploymentValues()) as client,
    ):
        authentication = BearerToken(secret=FromFile(path=secret))
        request = request_to("", authentication=authentication)
        request = evolve(request, endpoint=evolve(request.endpoint, base_url=FromFile(path=address)))
        for provider, token in ((old, "secret-1"), (new, "secret-2")):
            provider.script(answering(FOUND))
            address.write_text(f"{provider.base_url}\n")
            secret.write_text(f"{token}\n")
            assert isinstance(await client.call(request), Answer)
            assert provider.requests[0].headers["authorization"] == f"Bearer {token}"


async def test_headers_that_come_twice_say_nothing(
    provider: MisbehavingProvider, client: ProviderClient
) -> None:
    twice = "Retry-After: 1\r\nRetry-After: 9\r\n"
    provider.script(answering(response(503, headers=twice)))
    outcome = await client.call(request_to(provider.base_url))
    assert isinstance(outcome, Answer)
    assert "retry-after" not in outcome.headers
