"""Tokens by client credentials are kept, fetched once for all who wait, renewed in time, and dropped once by a 401."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest
from attrs import define, field, frozen
from tests.plugins.misbehaving_provider import (
    Behaviour,
    Connection,
    MisbehavingProvider,
    answering,
    misbehaving_provider,
    reset_after_reading,
    response,
    saying_nothing,
)

from orchestrator_worker.deployment_values import DeploymentValues, FromEnvironment, WrittenOut
from orchestrator_worker.provider_answer import Answer, CallOutcome, NotConfigured, NotConnected, NotSignedIn
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import ClientAuthentication, ClientCredentials, Endpoint, Timeouts

FOUND = response(200, b'{"found": true}')
DENIED = response(401)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def granted(token: str, **changes: Any) -> bytes:
    content = {"access_token": token, "token_type": "Bearer", "expires_in": 3600, **changes}
    return response(200, json.dumps(content).encode(), headers="Connection: close\r\n")


@frozen
class Once:
    """Answer one request on a connection of its own."""

    answer: bytes

    async def __call__(self, connection: Connection) -> None:
        await connection.receive()
        await connection.send(self.answer)


@define
class Desk:
    """A client, the provider it calls, and the authorization server that lets it."""

    provider: MisbehavingProvider
    issuer: MisbehavingProvider
    client: ProviderClient
    clock: Clock
    environment: dict[str, str]
    credentials: dict[str, Any] = field(factory=dict)

    async def call(self, timeouts: Timeouts | None = None) -> CallOutcome:
        credentials = ClientCredentials(
            token_url=WrittenOut(value=self.issuer.base_url + "/token/"),
            client_id="desk:1",
            secret=FromEnvironment(variable="SECRET"),
            **self.credentials,
        )
        return await self.client.call(
            ProviderRequest(
                endpoint=Endpoint(
                    name="inventory",
                    base_url=WrittenOut(value=self.provider.base_url),
                    authentication=credentials,
                    networks=(ip_network("127.0.0.0/8"),),
                ),
                method="POST",
                target="/items",
                body=b"{}",
                timeouts=timeouts or Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=30),
                answer_bytes_max=1000,
            )
        )

    @property
    def tokens_sent(self) -> list[str]:
        return [request.headers["authorization"] for request in self.provider.requests]


@asynccontextmanager
async def desk_with(*issued: Behaviour) -> AsyncIterator[Desk]:
    clock, environment = Clock(), {"SECRET": "s3/ü"}
    async with (
        misbehaving_provider() as provider,
        misbehaving_provider() as issuer,
        ProviderClient(values=DeploymentValues(environment=environment), clock=clock) as client,
    ):
        issuer.script(*issued)
        yield Desk(provider, issuer, client, clock, environment)


def status_of(outcome: CallOutcome) -> int:
    assert isinstance(outcome, Answer), outcome
    return outcome.status


async def test_a_token_is_asked_for_once_and_kept() -> None:
    async with desk_with(Once(granted("t-1"))) as desk:
        desk.provider.script(answering(FOUND, FOUND, FOUND))
        for _ in range(3):
            assert status_of(await desk.call()) == 200
        assert desk.tokens_sent == ["Bearer t-1"] * 3
        (asked,) = desk.issuer.requests
        assert (asked.method, asked.target, asked.body) == (
            "POST",
            "/token/",
            b"grant_type=client_credentials",
        )
        assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
        assert asked.headers["authorization"] == "Basic ZGVzayUzQTE6czMlMkYlQzMlQkM="


async def test_the_secret_can_stand_in_the_form_with_a_scope() -> None:
    async with desk_with(Once(granted("t-1"))) as desk:
        desk.credentials = {"scope": "read write", "client_authentication": ClientAuthentication.BODY}
        desk.provider.script(answering(FOUND))
        assert status_of(await desk.call()) == 200
        (asked,) = desk.issuer.requests
        assert "authorization" not in asked.headers
        assert asked.body == (
            b"grant_type=client_credentials&scope=read+write&client_id=desk%3A1&client_secret=s3%2F%C3%BC"
        )


async def test_callers_that_need_a_token_at_once_share_one_fetch() -> None:
    async with desk_with(Once(granted("t-1"))) as desk:
        desk.provider.script(Once(FOUND))
        outcomes = await asyncio.gather(*[desk.call() for _ in range(8)])
        assert [status_of(outcome) for outcome in outcomes] == [200] * 8
        assert len(desk.issuer.requests) == 1


@pytest.mark.parametrize(
    ("said", "kept_seconds"),
    [
        ({"expires_in": 3600}, 3540),
        ({"expires_in": 100}, 80),
        ({"expires_in": "soon"}, 240),
        ({"expires_in": True}, 240),
        ({"expires_in": 10**30}, 86_340),
    ],
)
async def test_a_token_is_renewed_before_it_expires(said: dict[str, Any], kept_seconds: float) -> None:
    async with desk_with(Once(granted("t-1", **said)), Once(granted("t-2"))) as desk:
        desk.provider.script(answering(FOUND, FOUND, FOUND))
        await desk.call()
        desk.clock.now = kept_seconds - 1
        await desk.call()
        desk.clock.now = kept_seconds
        await desk.call()
        assert desk.tokens_sent == ["Bearer t-1", "Bearer t-1", "Bearer t-2"]


async def test_a_token_without_life_is_used_once() -> None:
    async with desk_with(Once(granted("t-1", expires_in=-5)), Once(granted("t-2"))) as desk:
        desk.provider.script(answering(FOUND, FOUND))
        await desk.call()
        await desk.call()
        assert desk.tokens_sent == ["Bearer t-1", "Bearer t-2"]


async def test_a_kept_token_that_is_refused_is_replaced_within_the_same_call() -> None:
    async with desk_with(Once(granted("t-1")), Once(granted("t-2"))) as desk:
        desk.provider.script(answering(FOUND, DENIED, FOUND, FOUND))
        for _ in range(3):
            assert status_of(await desk.call()) == 200
        assert desk.tokens_sent == ["Bearer t-1", "Bearer t-1", "Bearer t-2", "Bearer t-2"]


async def test_a_fresh_token_that_is_refused_is_dropped_and_the_call_is_not_repeated() -> None:
    async with desk_with(Once(granted("t-1")), Once(granted("t-2"))) as desk:
        desk.provider.script(answering(DENIED, FOUND))
        assert status_of(await desk.call()) == 401
        assert len(desk.provider.requests) == 1
        assert status_of(await desk.call()) == 200
        assert desk.tokens_sent == ["Bearer t-1", "Bearer t-2"]


async def test_a_call_is_repeated_once_at_most() -> None:
    async with desk_with(Once(granted("t-1")), Once(granted("t-2"))) as desk:
        desk.provider.script(answering(FOUND, DENIED, DENIED, FOUND))
        await desk.call()
        assert status_of(await desk.call()) == 401
        assert len(desk.provider.requests) == 3


async def test_a_new_token_that_cannot_be_had_after_a_refusal_leaves_no_doubt_about_the_call() -> None:
    async with desk_with(Once(granted("t-1")), Once(response(503))) as desk:
        desk.provider.script(answering(FOUND, DENIED, FOUND))
        await desk.call()
        assert await desk.call() == NotConnected()


@pytest.mark.parametrize("status", [400, 401, 403])
async def test_a_client_that_is_refused_a_token_has_not_signed_in(status: int) -> None:
    async with desk_with(Once(response(status, b'{"error": "invalid_client"}'))) as desk:
        desk.provider.script(answering(FOUND))
        assert await desk.call() == NotSignedIn()
        assert desk.provider.connections == 0


@pytest.mark.parametrize(
    "issued",
    [
        Once(response(500)),
        Once(response(302, headers="Location: /elsewhere\r\n")),
        Once(response(200, b"{}")),
        Once(response(200, b"[]")),
        Once(response(200, b"no json")),
        Once(granted("")),
        Once(granted("t\r\nX-Injected: 1")),
        Once(granted("t-1", token_type="mac")),
        Once(granted("t-1", access_token=7)),
        Once(granted("t" * 70_000)),
        reset_after_reading,
    ],
    ids=[
        "500",
        "redirect",
        "empty",
        "array",
        "no json",
        "blank",
        "injection",
        "mac",
        "number",
        "large",
        "reset",
    ],
)
async def test_an_authorization_server_that_gives_no_token_lets_nothing_of_the_call_leave(
    issued: Behaviour,
) -> None:
    async with desk_with(issued, Once(granted("t-9"))) as desk:
        desk.provider.script(answering(FOUND))
        assert await desk.call() == NotConnected()
        assert desk.provider.connections == 0
        assert status_of(await desk.call()) == 200


async def test_an_authorization_server_that_says_nothing_is_cut_by_the_budget() -> None:
    async with desk_with(saying_nothing) as desk:
        desk.provider.script(answering(FOUND))
        tight = Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=0.2)
        assert await desk.call(tight) == NotConnected()
        assert desk.provider.connections == 0


async def test_whoever_waits_for_a_cancelled_fetch_makes_its_own() -> None:
    async with desk_with(saying_nothing, Once(granted("t-2"))) as desk:
        desk.provider.script(answering(FOUND))
        first = asyncio.create_task(desk.call())
        await desk.issuer.received.wait()
        second = asyncio.create_task(desk.call())
        first.cancel()
        assert status_of(await second) == 200
        assert desk.tokens_sent == ["Bearer t-2"]


async def test_a_secret_that_rotates_is_used_for_the_next_token() -> None:
    async with desk_with(Once(granted("t-1")), Once(granted("t-2"))) as desk:
        desk.provider.script(answering(FOUND, FOUND))
        await desk.call()
        desk.environment["SECRET"] = "s4"
        desk.clock.now = 4000
        await desk.call()
        assert desk.issuer.requests[1].headers["authorization"] == "Basic ZGVzayUzQTE6czQ="


async def test_a_secret_that_is_missing_lets_nothing_leave() -> None:
    async with desk_with(Once(granted("t-1"))) as desk:
        desk.environment.clear()
        desk.provider.script(answering(FOUND))
        assert await desk.call() == NotConfigured()
        assert desk.issuer.connections == desk.provider.connections == 0
