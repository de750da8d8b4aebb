"""A client that is made when the first call comes: the same outcomes, and one client for all who wait for it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from ipaddress import ip_network

import pytest
from tests.plugins.misbehaving_provider import MisbehavingProvider, answering, misbehaving_provider, response

from orchestrator_worker.deployment_values import DeploymentValues, WrittenOut
from orchestrator_worker.late_provider_client import LateProviderClient
from orchestrator_worker.provider_answer import Answer, NotConfigured
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import Endpoint, Timeouts

IMPORTED = "orchestrator_worker.provider_client"


@pytest.fixture
async def provider() -> AsyncIterator[MisbehavingProvider]:
    async with misbehaving_provider() as running:
        running.script(answering(response(200, b"{}")))
        yield running


def request_to(provider: MisbehavingProvider) -> ProviderRequest:
    return ProviderRequest(
        endpoint=Endpoint(
            name="inventory",
            base_url=WrittenOut(value=provider.base_url),
            networks=(ip_network("127.0.0.0/8"),),
            allow_plain_http=True,
        ),
        method="GET",
        target="/items/3",
        body=None,
        headers={},
        timeouts=Timeouts(),
        answer_bytes_max=1000,
    )


async def test_calls_come_to_what_they_would_by_a_client_of_their_own(provider: MisbehavingProvider) -> None:
    async with LateProviderClient(values=DeploymentValues()) as client:
        answer = await client.call(request_to(provider))

    assert isinstance(answer, Answer)
    assert answer.status == 200


async def test_whoever_waits_first_may_leave_first(provider: MisbehavingProvider) -> None:
    async with LateProviderClient(values=DeploymentValues()) as client:
        first = asyncio.create_task(client.call(request_to(provider)))
        second = asyncio.create_task(client.call(request_to(provider)))
        await asyncio.sleep(0)
        first.cancel()

        assert isinstance(await second, Answer)
        assert first.cancelled()


async def test_nothing_is_tried_without_a_client_and_the_next_call_makes_one(
    provider: MisbehavingProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LateProviderClient(values=DeploymentValues()) as client:
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, IMPORTED, None)
            assert await client.call(request_to(provider)) == NotConfigured()

        assert isinstance(await client.call(request_to(provider)), Answer)


async def test_what_was_never_used_is_closed_all_the_same() -> None:
    async with LateProviderClient(values=DeploymentValues()) as client:
        pass

    assert isinstance(client, LateProviderClient)
