"""TLS contexts of endpoints: whom they trust and what they show, from files that may rotate."""

import ssl
from functools import cache

from attrs import frozen

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_worker.deployment_values import DeploymentValues, ValueUnavailable
from orchestrator_worker.route import Endpoint


@frozen(kw_only=True)
class TlsMaterial:
    """What a context is made of; two that are equal make the same context. Holds digests, never a key."""

    authorities: str | None = None
    certificate_digest: str | None = None


def tls_material(endpoint: Endpoint, values: DeploymentValues) -> TlsMaterial:
    """Read what the endpoint refers to as it is now; raise ValueUnavailable if something is missing."""
    shown = endpoint.client_certificate
    digest = None
    if shown is not None:
        digest = sha256_hex([values.value_of(shown.certificate), values.value_of(shown.key)])
    authorities = None if endpoint.authorities is None else values.value_of(endpoint.authorities)
    return TlsMaterial(authorities=authorities, certificate_digest=digest)


@cache
def usual_tls() -> ssl.SSLContext:
    """Return the context of endpoints without certificates of their own: the one of this process, not to be changed."""
    return _trusting_the_system()


def tls_context(endpoint: Endpoint, material: TlsMaterial) -> ssl.SSLContext:
    """Return a context that verifies hosts; raise ValueUnavailable for what is no certificate or no key to it."""
    try:
        if material.authorities is None:
            context = _trusting_the_system()
        else:
            context = ssl.create_default_context(cadata=material.authorities)
    except (ssl.SSLError, ValueError):
        raise ValueUnavailable("The trusted authorities aren't certificates in PEM.") from None
    if endpoint.client_certificate is not None:
        _show(endpoint, context)
    return context


def _trusting_the_system() -> ssl.SSLContext:
    # Each start reads the catalogue, and few of its endpoints have certificates of their own.
    import httpx2  # noqa: PLC0415 -- see above

    return httpx2.create_ssl_context(trust_env=False)


def _show(endpoint: Endpoint, context: ssl.SSLContext) -> None:
    shown = endpoint.client_certificate
    assert shown is not None
    try:
        # Without a password given here, a key that has one would be asked for at the terminal.
        context.load_cert_chain(shown.certificate.path, shown.key.path, password=lambda: b"")
    except (ssl.SSLError, OSError, ValueError):
        raise ValueUnavailable(
            "The client certificate and its key aren't a pair in PEM, without a password."
        ) from None
