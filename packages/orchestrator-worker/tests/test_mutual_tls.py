"""An endpoint's certificates: whom it trusts, what it shows, and what happens when they rotate."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest
from attrs import define, field
from tests.plugins.certificate_authority import Authority
from tests.plugins.lending_catalogue import catalogue_file

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues, FromFile, WrittenOut
from orchestrator_worker.provider_answer import Answer, CallOutcome, NotConfigured, NotConnected
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import ClientCertificate, Endpoint, Timeouts


@define
class Provider:
    """A provider that lets in whoever shows a certificate of its authority, and notes the names shown."""

    authority: Authority
    port: int = 0
    shown: list[str] = field(factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            subject = writer.get_extra_info("peercert")["subject"]
            self.shown.append(subject[0][0][1])
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            await writer.drain()
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def serving(folder: Path, authority: Authority) -> AsyncIterator[Provider]:
    own = folder / "provider"
    own.mkdir()
    certificate, key = authority.issue(own, "provider")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cadata=authority.pem)
    context.load_cert_chain(certificate, key)
    context.verify_mode = ssl.CERT_REQUIRED
    # With TLS 1.3 a client learns only after its request that its certificate isn't wanted.
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    provider = Provider(authority)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0, ssl=context)
    provider.port = server.sockets[0].getsockname()[1]
    try:
        yield provider
    finally:
        server.close()
        await server.wait_closed()


def endpoint_of(folder: Path, provider: Provider, *, trusted: str | None = None) -> Endpoint:
    return Endpoint(
        name="inventory",
        base_url=WrittenOut(value=f"https://127.0.0.1:{provider.port}"),
        networks=(ip_network("127.0.0.0/8"),),
        client_certificate=ClientCertificate(
            certificate=FromFile(path=folder / "client.pem"), key=FromFile(path=folder / "client.key")
        ),
        authorities=WrittenOut(value=trusted or provider.authority.pem),
    )


async def called(client: ProviderClient, endpoint: Endpoint) -> CallOutcome:
    return await client.call(
        ProviderRequest(
            endpoint=endpoint,
            method="GET",
            target="/items",
            timeouts=Timeouts(connect_seconds=5, answer_seconds=20, budget_seconds=30),
            answer_bytes_max=1000,
        )
    )


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority.new()


async def test_a_call_shows_its_certificate_and_a_rotated_one_from_the_next_call_on(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(tmp_path, authority) as provider, ProviderClient(values=DeploymentValues()) as client:
        endpoint = endpoint_of(tmp_path, provider)
        authority.issue(tmp_path, "desk-1")
        assert isinstance(await called(client, endpoint), Answer)
        authority.issue(tmp_path, "desk-2")
        assert isinstance(await called(client, endpoint), Answer)
        assert provider.shown == ["desk-1", "desk-2"]


async def test_a_certificate_of_a_foreign_authority_lets_nothing_be_asked(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(tmp_path, authority) as provider, ProviderClient(values=DeploymentValues()) as client:
        Authority.new().issue(tmp_path, "desk-1")
        assert await called(client, endpoint_of(tmp_path, provider)) == NotConnected()
        assert provider.shown == []


async def test_a_provider_that_the_authorities_do_not_vouch_for_is_not_called(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(tmp_path, authority) as provider, ProviderClient(values=DeploymentValues()) as client:
        authority.issue(tmp_path, "desk-1")
        endpoint = endpoint_of(tmp_path, provider, trusted=Authority.new().pem)
        assert await called(client, endpoint) == NotConnected()


async def test_a_certificate_that_is_missing_or_does_not_fit_its_key_lets_nothing_leave(
    tmp_path: Path, authority: Authority
) -> None:
    async with serving(tmp_path, authority) as provider, ProviderClient(values=DeploymentValues()) as client:
        endpoint = endpoint_of(tmp_path, provider)
        assert await called(client, endpoint) == NotConfigured()
        _, key = authority.issue(tmp_path, "desk-1")
        first_key = key.read_bytes()
        authority.issue(tmp_path, "desk-2")
        key.write_bytes(first_key)
        assert await called(client, endpoint) == NotConfigured()
        authority.issue(tmp_path, "desk-3", password=b"secret")
        assert await called(client, endpoint) == NotConfigured()
        authority.issue(tmp_path, "desk-4")
        assert isinstance(await called(client, endpoint), Answer)
        assert provider.shown == ["desk-4"]


def test_certificates_that_could_not_be_used_are_faults_of_the_catalogue(
    tmp_path: Path, authority: Authority
) -> None:
    pair = {
        "certificate": {"file": str(tmp_path / "client.pem")},
        "key": {"file": str(tmp_path / "client.key")},
    }
    content = catalogue_file(
        endpoints={
            "inventory": {
                "baseUrl": "https://inventory.test",
                "authentication": {"kind": "none"},
                "clientCertificate": pair,
            }
        }
    )
    with pytest.raises(CatalogueInvalid) as refusal:
        read_catalogue(dump_json(content), values=DeploymentValues())
    assert [(fault.pointer, fault.code) for fault in refusal.value.faults] == [
        ("/endpoints/inventory/clientCertificate", "CERTIFICATE")
    ]
    authority.issue(tmp_path, "desk-1")
    read = read_catalogue(dump_json(content), values=DeploymentValues())
    assert read.endpoints["inventory"].client_certificate is not None
