"""Fetching an issuer's published documents over HTTP, bounded in bytes, time and tries."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import httpx2
from attrs import frozen
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.trusted_issuer import TrustedIssuer, is_web_address

type FetchDocument = Callable[[str], Awaitable[JsonValue]]
"""Fetch a JSON document by its URL; raise DocumentUnavailable whatever the reason."""

_DISCOVERY_PATH: Final = "/.well-known/openid-configuration"


class DocumentUnavailable(Exception):
    """A document of an issuer can't be had; the message says why, for the operators."""


class _Passing(Exception):
    """What another try may mend."""


@frozen(kw_only=True)
class HttpDocuments:
    """Fetch documents with a fresh client each time: it happens rarely, and nothing is left to close.

    No proxy or credential of the environment is used, no redirect is followed, and no content coding is accepted, so
    that what is counted is what is held. `seconds_max` bounds all tries together.
    """

    bytes_max: int = 256 * 1024
    seconds_max: float = 5.0
    attempts_max: int = 2
    transport: httpx2.AsyncBaseTransport | None = None

    async def __call__(self, url: str) -> JsonValue:
        try:
            async with asyncio.timeout(self.seconds_max):
                return parse_json(await self._with_retries(url))
        except MalformedJson as fault:
            raise DocumentUnavailable(f"The document isn't JSON that can be taken: {fault.message}") from None
        except (TimeoutError, _Passing, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as fault:
            raise DocumentUnavailable(f"The document can't be fetched ({type(fault).__name__}).") from None

    async def _with_retries(self, url: str) -> bytes:
        tries = AsyncRetrying(
            stop=stop_after_attempt(self.attempts_max),
            wait=wait_random(0.05, 0.2),
            retry=retry_if_exception_type((_Passing, httpx2.TransportError)),
            reraise=True,
        )
        return await tries(self._body, url)

    async def _body(self, url: str) -> bytes:
        client = httpx2.AsyncClient(
            trust_env=False, follow_redirects=False, timeout=self.seconds_max, transport=self.transport
        )
        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        async with client, client.stream("GET", url, headers=headers) as answer:
            if answer.status_code >= 500:
                raise _Passing
            if answer.status_code != 200:
                raise DocumentUnavailable(f"The document was answered with status {answer.status_code}.")
            if answer.headers.get("content-encoding", "identity") != "identity":
                raise DocumentUnavailable("The document came with a content coding that was not asked for.")
            return await self._bounded(answer)

    async def _bounded(self, answer: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in answer.aiter_raw():
            body += chunk
            if len(body) > self.bytes_max:
                raise DocumentUnavailable(f"The document is larger than {self.bytes_max} bytes.")
        return bytes(body)


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
