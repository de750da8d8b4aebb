"""Fetching a JSON document over HTTP, bounded in bytes, time and tries."""

import asyncio

import httpx2
from attrs import frozen
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_http.key_documents import DocumentUnavailable


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
