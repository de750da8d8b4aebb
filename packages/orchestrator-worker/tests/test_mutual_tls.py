"""An endpoint's certificates: whom it trusts, what it shows, and what happens when they rotate."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from attrs import define, field, frozen
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID
from tests.plugins.lending_catalogue import catalogue_file

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues, FromFile, WrittenOut
from orchestrator_worker.provider_answer import Answer, CallOutcome, NotConfigured, NotConnected
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import ClientCertificate, Endpoint, Timeouts


@frozen
class Authority:
    """Issue certificates in the name of one root."""

    key: ec.EllipticCurvePrivateKey
    root: x509.Certificate

    @classmethod
    def new(cls) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        return cls(key, _certificate("root", key, issuer="root", issuer_key=key, is_authority=True))

    @property
    def pem(self) -> str:
        return self.root.public_bytes(Encoding.PEM).decode()

    def issue(self, folder: Path, name: str, *, password: bytes | None = None) -> tuple[Path, Path]:
        """Write a certificate and its key into the folder and return their paths."""
        key = ec.generate_private_key(ec.SECP256R1())
        issued = _certificate(name, key, issuer="root", issuer_key=self.key, is_authority=False)
        secrecy: KeySerializationEncryption = NoEncryption()
        if password is not None:
            secrecy = BestAvailableEncryption(password)
        certificate_file, key_file = folder / "client.pem", folder / "client.key"
        certificate_file.write_bytes(issued.public_bytes(Encoding.PEM))
        key_file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secrecy))
        return certificate_file, key_file


def _certificate(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    *,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    is_authority: bool,
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(_usage(is_authority=is_authority), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("inventory.test"), x509.IPAddress(ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .sign(issuer_key, hashes.SHA256())
    )


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


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
