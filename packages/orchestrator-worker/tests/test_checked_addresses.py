"""A call goes to an address that was checked, and to no other, whatever its host's name resolves to and when."""

from collections.abc import Sequence
from ipaddress import ip_network

import pytest
from tests.plugins.misbehaving_provider import answering, misbehaving_provider, response

from orchestrator_worker.address_check import Network
from orchestrator_worker.deployment_values import DeploymentValues, WrittenOut
from orchestrator_worker.provider_answer import Answer, CallOutcome, NotConnected
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import Endpoint, Timeouts

LOOPBACK = ip_network("127.0.0.1/32")
FOUND = answering(response(200, b"{}"))


class Resolver:
    """Answer each question with the next list of addresses, the last one again and again."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def called(client: ProviderClient, base_url: str, *networks: Network) -> CallOutcome:
    return await client.call(
        ProviderRequest(
            endpoint=Endpoint(
                name="inventory",
                base_url=WrittenOut(value=base_url),
                networks=networks,
                allow_plain_http=True,
            ),
            method="GET",
            target="/items",
            timeouts=Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=30),
            answer_bytes_max=1000,
        )
    )


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"]
)
async def test_loopback_is_not_called_unless_it_is_listed_however_it_is_written(host: str) -> None:
    async with misbehaving_provider() as provider, ProviderClient(values=DeploymentValues()) as client:
        provider.script(FOUND)
        base_url = provider.base_url.replace("127.0.0.1", host)
        assert await called(client, base_url) == NotConnected(address_refused=True)
        assert provider.connections == 0


async def test_a_name_is_resolved_once_and_called_at_the_address_that_was_checked() -> None:
    resolver = Resolver(["127.0.0.1"], ["127.0.0.2"])
    async with (
        misbehaving_provider() as provider,
        ProviderClient(values=DeploymentValues(), resolve=resolver) as client,
    ):
        provider.script(FOUND)
        base_url = provider.base_url.replace("127.0.0.1", "inventory.test")
        assert isinstance(await called(client, base_url, LOOPBACK), Answer)
        port = int(base_url.rpartition(":")[2])
        assert resolver.asked == [("inventory.test", port)]
        assert provider.requests[0].headers["host"] == f"inventory.test:{port}"


async def test_a_name_that_comes_to_mean_another_address_is_refused_at_the_next_connection() -> None:
    resolver = Resolver(["127.0.0.1"], ["127.0.0.2"])
    async with (
        misbehaving_provider() as provider,
        ProviderClient(values=DeploymentValues(), resolve=resolver) as client,
    ):
        provider.script(answering(response(200, b"{}", headers="Connection: close\r\n")))
        base_url = provider.base_url.replace("127.0.0.1", "inventory.test")
        assert isinstance(await called(client, base_url, LOOPBACK), Answer)
        assert await called(client, base_url, LOOPBACK) == NotConnected(address_refused=True)
        assert provider.connections == 1


async def test_of_several_addresses_the_refused_are_passed_over_and_the_dead_are_followed_by_the_next() -> (
    None
):
    resolver = Resolver(["10.0.0.1", "127.0.0.9", "127.0.0.1"])
    async with (
        misbehaving_provider() as provider,
        ProviderClient(values=DeploymentValues(), resolve=resolver) as client,
    ):
        provider.script(FOUND)
        base_url = provider.base_url.replace("127.0.0.1", "inventory.test")
        outcome = await called(client, base_url, ip_network("127.0.0.0/8"))
        assert isinstance(outcome, Answer)
        assert provider.connections == 1
