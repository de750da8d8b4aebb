"""Calls to providers over HTTP; the only place that knows the HTTP library."""

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import SSLContext
from types import TracebackType
from typing import Self

import httpx2

from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_worker.deployment_values import (
    DeploymentValues,
    ValueUnavailable,
    checked_base_url,
    checked_header_value,
)
from orchestrator_worker.provider_answer import (
    Answer,
    Body,
    BodyFault,
    CallOutcome,
    Json,
    NoAnswer,
    NoJson,
    NotConfigured,
    NotConnected,
)
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.route import (
    ApiKeyHeader,
    Authentication,
    BasicCredentials,
    BearerToken,
    Endpoint,
    NoAuthentication,
    Timeouts,
)

_KEEPALIVE_SECONDS = 15.0
_ENCODINGS = ("", "identity", "gzip")


class ProviderClient:
    """Make single calls to fixed hosts; never redirected, never through a proxy of the environment, never repeated.

    One pool of connections per endpoint. Belongs to the event loop that first calls it; use it as an async context
    manager or call `close`.
    """

    def __init__(self, *, values: DeploymentValues) -> None:
        self._values = values
        self._pools: dict[str, httpx2.AsyncClient] = {}
        # Loading the trusted authorities takes long enough to be done once, before any call.
        self._tls = httpx2.create_ssl_context(trust_env=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            await pool.aclose()

    async def call(self, request: ProviderRequest) -> CallOutcome:
        """Make one attempt within the request's timeouts. Raises nothing but the cancellation of its caller."""
        try:
            prepared = self._prepared(request)
        except ValueUnavailable:
            return NotConfigured()
        attempt = _Attempt(request.timeouts)
        try:
            async with attempt.deadline:
                return await self._exchanged(prepared, request, attempt)
        except (httpx2.HTTPError, httpx2.StreamError, TimeoutError, OSError):
            return NoAnswer() if attempt.began_sending else NotConnected()

    def _prepared(self, request: ProviderRequest) -> httpx2.Request:
        endpoint = request.endpoint
        url = checked_base_url(self._values.value_of(endpoint.base_url)) + request.target
        headers = {
            **request.headers,
            **_credentials(endpoint.authentication, self._values),
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
        }
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        try:
            return httpx2.Request(request.method, url, headers=headers, content=request.body)
        except (httpx2.InvalidURL, ValueError):
            raise ValueUnavailable("The address can't be called.") from None

    async def _exchanged(
        self, prepared: httpx2.Request, request: ProviderRequest, attempt: "_Attempt"
    ) -> CallOutcome:
        prepared.extensions = {"timeout": _steps(request.timeouts), "trace": attempt.traced}
        response = await self._pool_of(request.endpoint).send(prepared, stream=True)
        try:
            body = await _body_of(response, request.answer_bytes_max)
        finally:
            await response.aclose()
        return Answer(status=response.status_code, headers=_single(response.headers), body=body)

    def _pool_of(self, endpoint: Endpoint) -> httpx2.AsyncClient:
        if endpoint.name not in self._pools:
            self._pools[endpoint.name] = _new_pool(endpoint.connections_max, self._tls)
        return self._pools[endpoint.name]


def _new_pool(connections_max: int, tls: SSLContext) -> httpx2.AsyncClient:
    # The one place that decides how a host is reached: checks of resolved addresses belong into its transport.
    return httpx2.AsyncClient(
        verify=tls,
        trust_env=False,
        follow_redirects=False,
        http2=False,
        limits=httpx2.Limits(
            max_connections=connections_max,
            max_keepalive_connections=connections_max,
            keepalive_expiry=_KEEPALIVE_SECONDS,
        ),
        # Cookies are neither sent nor gathered.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class _Attempt:
    """The clock of one call: the budget from its start, the time to answer from its first byte."""

    def __init__(self, timeouts: Timeouts) -> None:
        self.deadline = asyncio.timeout(timeouts.budget_seconds)
        self.began_sending = False
        self._answer_seconds = timeouts.answer_seconds

    async def traced(self, event: str, _info: Mapping[str, object]) -> None:
        """Note the moment just before the request's first byte is written: until then nothing can have been sent."""
        if event == "http11.send_request_headers.started" and not self.began_sending:
            self.began_sending = True
            by_answer = asyncio.get_running_loop().time() + self._answer_seconds
            by_budget = self.deadline.when()
            self.deadline.reschedule(by_answer if by_budget is None else min(by_answer, by_budget))


def _steps(timeouts: Timeouts) -> dict[str, float]:
    return {
        "connect": timeouts.connect_seconds,
        "pool": timeouts.connect_seconds,
        "read": timeouts.answer_seconds,
        "write": timeouts.answer_seconds,
    }


def _credentials(authentication: Authentication, values: DeploymentValues) -> dict[str, str]:
    match authentication:
        case NoAuthentication():
            return {}
        case BearerToken():
            return {"Authorization": f"Bearer {checked_header_value(values.value_of(authentication.secret))}"}
        case BasicCredentials():
            pair = f"{authentication.username}:{values.value_of(authentication.secret)}"
            return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
        case ApiKeyHeader():
            return {authentication.header: checked_header_value(values.value_of(authentication.secret))}


def _single(headers: httpx2.Headers) -> dict[str, str]:
    """Return the headers that stand alone: of several with one name, none is more right than another."""
    names = [name.lower() for name, _ in headers.multi_items()]
    return {name: headers[name] for name in names if names.count(name) == 1}


async def _body_of(response: httpx2.Response, bytes_max: int) -> Body:
    if response.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
        return NoJson(fault=BodyFault.UNKNOWN_ENCODING)
    content = bytearray()
    try:
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                content += piece
                if len(content) > bytes_max:
                    return NoJson(fault=BodyFault.TOO_LARGE)
    except httpx2.DecodingError:
        return NoJson(fault=BodyFault.MALFORMED)
    return _json_of(bytes(content))


def _json_of(content: bytes) -> Body:
    if not content:
        return NoJson(fault=BodyFault.EMPTY)
    try:
        return Json(value=parse_json(content))
    except MalformedJson:
        return NoJson(fault=BodyFault.MALFORMED)
