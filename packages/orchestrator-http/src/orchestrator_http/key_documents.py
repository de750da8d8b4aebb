"""Finding the key set among an issuer's published documents."""

from collections.abc import Awaitable, Callable
from typing import Final

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.trusted_issuer import TrustedIssuer, is_web_address

type FetchDocument = Callable[[str], Awaitable[JsonValue]]
"""Fetch a JSON document by its URL; raise DocumentUnavailable whatever the reason."""

_DISCOVERY_PATH: Final = "/.well-known/openid-configuration"


class DocumentUnavailable(Exception):
    """A document of an issuer can't be had; the message says why, for the operators."""


async def key_set_document(issuer: TrustedIssuer, fetch: FetchDocument) -> JsonValue:
    """Return the issuer's JWK Set, found by discovery if its URL isn't configured.

    Raises DocumentUnavailable, also for a discovery document that speaks of another issuer, leads from https to plain
    http, or leads to plain http elsewhere.
    """
    if issuer.jwks_url is not None:
        return await fetch(issuer.jwks_url)
    return await fetch(_discovered_url(issuer, await fetch(issuer.issuer.rstrip("/") + _DISCOVERY_PATH)))


def _discovered_url(issuer: TrustedIssuer, discovery: JsonValue) -> str:
    if not isinstance(discovery, dict) or discovery.get("issuer") != issuer.issuer:
        raise DocumentUnavailable("The discovery document doesn't name this issuer.")
    url = discovery.get("jwks_uri")
    if not isinstance(url, str) or not is_web_address(url):
        raise DocumentUnavailable("The discovery document has no usable jwks_uri.")
    if issuer.issuer.startswith("https:") and not url.startswith("https:"):
        raise DocumentUnavailable("The discovery document of an https issuer leads to plain http.")
    if not issuer.may_be_asked(url):
        raise DocumentUnavailable("The discovery document leads to plain http on another machine.")
    return url
