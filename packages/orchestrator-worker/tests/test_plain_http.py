"""An address that rotates to plain http is refused at the call, before anything, a secret included, has left."""

from ipaddress import ip_network
from pathlib import Path

import pytest
from tests.plugins.misbehaving_provider import MisbehavingProvider, misbehaving_provider, response
from tests.plugins.misbehaving_provider import answering as answers

from orchestrator_worker.deployment_values import DeploymentValues, FromFile, WrittenOut
from orchestrator_worker.provider_answer import Answer, CallOutcome, NotConnected
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import Authentication, ClientCredentials, Endpoint, NoAuthentication, Timeouts

LOOPBACK = (ip_network("127.0.0.0/8"),)
BASE_URL = FromFile(path=Path("/run/secrets/base-url"))
TOKEN_URL = FromFile(path=Path("/run/secrets/token-url"))
FOUND = answers(response(200, b"{}"))
TOKEN = answers(response(200, b'{"access_token": "abc", "token_type": "Bearer", "expires_in": 0}'))
OAUTH = ClientCredentials(token_url=TOKEN_URL, client_id="desk", secret=WrittenOut(value="s3"))


async def everything_is_here(_host: str, _port: int) -> list[str]:
    """Resolve every name to this machine, where the double stands for the other one."""
    return ["127.0.0.1"]


async def called(
    client: ProviderClient, *, authentication: Authentication | None = None, allowed: bool = False
) -> CallOutcome:
    return await client.call(
        ProviderRequest(
            endpoint=Endpoint(
                name="inventory",
                base_url=BASE_URL,
                authentication=authentication or NoAuthentication(),
                networks=LOOPBACK,
                allow_plain_http=allowed,
            ),
            method="GET",
            target="/items",
            timeouts=Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=30),
            answer_bytes_max=1000,
        )
    )


def elsewhere(double: MisbehavingProvider) -> str:
    """Return the double's address as that of another machine."""
    return double.base_url.replace("127.0.0.1", "inventory.test")


def client_with(files: dict[Path, str]) -> ProviderClient:
    values = DeploymentValues(read_file=files.__getitem__)
    return ProviderClient(values=values, resolve=everything_is_here)


async def test_an_address_that_rotates_to_plain_http_on_another_machine_is_not_called() -> None:
    files: dict[Path, str] = {}
    async with misbehaving_provider() as provider, client_with(files) as client:
        provider.script(FOUND)
        files[BASE_URL.path] = provider.base_url
        assert isinstance(await called(client), Answer)
        files[BASE_URL.path] = elsewhere(provider)
        assert await called(client) == NotConnected(address_refused=True)
        assert len(provider.requests) == 1
        files[BASE_URL.path] = provider.base_url
        assert isinstance(await called(client), Answer)


async def test_an_endpoint_that_allows_it_is_called_by_plain_http() -> None:
    files: dict[Path, str] = {}
    async with misbehaving_provider() as provider, client_with(files) as client:
        provider.script(FOUND)
        files[BASE_URL.path] = elsewhere(provider)
        assert isinstance(await called(client, allowed=True), Answer)


@pytest.mark.parametrize("rotated", [BASE_URL, TOKEN_URL])
async def test_no_secret_leaves_by_plain_http_whichever_address_has_rotated(rotated: FromFile) -> None:
    files: dict[Path, str] = {}
    async with (
        misbehaving_provider() as provider,
        misbehaving_provider() as issuer,
        client_with(files) as client,
    ):
        provider.script(FOUND)
        issuer.script(TOKEN)
        files |= {BASE_URL.path: provider.base_url, TOKEN_URL.path: issuer.base_url + "/token"}
        assert isinstance(await called(client, authentication=OAUTH), Answer)
        # The token was good for no time at all, so the next call needs another one.
        seen = len(issuer.requests), len(provider.requests)
        double = provider if rotated is BASE_URL else issuer
        files[rotated.path] = elsewhere(double)
        assert await called(client, authentication=OAUTH) == NotConnected(address_refused=True)
        assert (len(issuer.requests), len(provider.requests)) == seen
