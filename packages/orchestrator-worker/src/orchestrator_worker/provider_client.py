"""Calls to providers over HTTP: signed in, within their timeouts, never redirected."""

import asyncio
from base64 import b64encode
from collections.abc import Callable, Mapping
from time import monotonic
from types import TracebackType
from typing import Self

import httpx2

from orchestrator_worker.access_tokens import (
    TOKEN_ANSWER_BYTES_MAX,
    AccessToken,
    AccessTokens,
    SignInFailed,
    SignInRefused,
)
from orchestrator_worker.deployment_values import (
    DeploymentValues,
    PlainHttpRefused,
    ValueUnavailable,
    checked_base_url,
    checked_header_value,
    require_private_way,
)
from orchestrator_worker.provider_answer import (
    BUSY_WAIT_SECONDS,
    Answer,
    CallOutcome,
    HeldBack,
    HoldReason,
    NoAnswer,
    NotConfigured,
    NotConnected,
    NotSignedIn,
)
from orchestrator_worker.provider_exchange import OFFERED, exchanged
from orchestrator_worker.provider_pools import ProviderPools
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.provider_transport import (
    NO_FREE_CONNECTION,
    TRANSPORT_FAULTS,
    AddressRefused,
    Resolve,
    system_resolver,
)
from orchestrator_worker.route import (
    ApiKeyHeader,
    BasicCredentials,
    BearerToken,
    ClientCredentials,
    NoAuthentication,
    Timeouts,
)


class ProviderClient:
    """Make single calls to fixed hosts, at addresses that are allowed.

    A call is repeated in one case alone: a kept access token was answered by 401, which has no effect. Belongs to the
    event loop that first calls it; use it as an async context manager or call `close`.
    """

    def __init__(
        self,
        *,
        values: DeploymentValues,
        resolve: Resolve = system_resolver,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._values = values
        self._pools = ProviderPools(values=values, resolve=resolve)
        self._tokens = AccessTokens(values=values, clock=clock)

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
        await self._pools.close()

    async def call(self, request: ProviderRequest) -> CallOutcome:
        """Make one attempt within the request's timeouts. Raises nothing but the cancellation of its caller."""
        attempt = _Attempt(request.timeouts)
        try:
            async with attempt.deadline, self._pools.lent(request.endpoint) as pool:
                return await self._called(pool, request, attempt)
        except ValueUnavailable:
            return NotConfigured()
        except SignInRefused:
            return NotSignedIn()
        except SignInFailed:
            return NotConnected()
        except NO_FREE_CONNECTION:
            return HeldBack(reason=HoldReason.BUSY, retry_after_seconds=BUSY_WAIT_SECONDS)
        except (AddressRefused, PlainHttpRefused):
            return NotConnected(address_refused=True)
        except TRANSPORT_FAULTS:
            return NoAnswer() if attempt.began_sending else NotConnected()

    async def _called(
        self, pool: httpx2.AsyncClient, request: ProviderRequest, attempt: "_Attempt"
    ) -> CallOutcome:
        # Before anything of it leaves, the client's secret included.
        self._base_url(request)
        token = await self._token(pool, request)
        answer = await self._sent(pool, request, attempt, token)
        if token is None or answer.status != 401:
            return answer
        self._tokens.drop(request.endpoint.name, token)
        if token.is_fresh:
            return answer
        attempt.begin_again()
        return await self._sent(pool, request, attempt, await self._token(pool, request))

    async def _token(self, pool: httpx2.AsyncClient, request: ProviderRequest) -> AccessToken | None:
        authentication = request.endpoint.authentication
        if not isinstance(authentication, ClientCredentials):
            return None

        async def exchange(asking: httpx2.Request) -> Answer:
            require_private_way(str(asking.url), plain_http_allowed=request.endpoint.allow_plain_http)
            asking.extensions = {"timeout": _steps(request.timeouts)}
            return await exchanged(pool, asking, bytes_max=TOKEN_ANSWER_BYTES_MAX)

        return await self._tokens.token(request.endpoint.name, authentication, exchange)

    async def _sent(
        self,
        pool: httpx2.AsyncClient,
        request: ProviderRequest,
        attempt: "_Attempt",
        token: AccessToken | None,
    ) -> Answer:
        prepared = self._prepared(request, token)
        prepared.extensions = {"timeout": _steps(request.timeouts), "trace": attempt.traced}
        return await exchanged(pool, prepared, bytes_max=request.answer_bytes_max)

    def _prepared(self, request: ProviderRequest, token: AccessToken | None) -> httpx2.Request:
        url = self._base_url(request) + request.target
        headers = {**request.headers, **self._credentials(request, token), **OFFERED}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        try:
            return httpx2.Request(request.method, url, headers=headers, content=request.body)
        except (httpx2.InvalidURL, ValueError):
            raise ValueUnavailable("The address can't be called.") from None

    def _base_url(self, request: ProviderRequest) -> str:
        url = checked_base_url(self._values.value_of(request.endpoint.base_url))
        require_private_way(url, plain_http_allowed=request.endpoint.allow_plain_http)
        return url

    def _credentials(self, request: ProviderRequest, token: AccessToken | None) -> dict[str, str]:
        values = self._values
        match request.endpoint.authentication:
            case NoAuthentication():
                return {}
            case BearerToken(secret=secret):
                return {"Authorization": f"Bearer {checked_header_value(values.value_of(secret))}"}
            case BasicCredentials(username=username, secret=secret):
                pair = f"{username}:{values.value_of(secret)}"
                return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
            case ApiKeyHeader(header=header, secret=secret):
                return {header: checked_header_value(values.value_of(secret))}
            case ClientCredentials():
                assert token is not None, "a token is fetched before the call is put together"
                return {"Authorization": f"Bearer {token.value}"}


class _Attempt:
    """The clock of one call: the budget from its start, the time to answer from its first byte."""

    def __init__(self, timeouts: Timeouts) -> None:
        self.deadline = asyncio.timeout(timeouts.budget_seconds)
        self.began_sending = False
        self._answer_seconds = timeouts.answer_seconds

    def begin_again(self) -> None:
        """Forget a sending that was answered by a refusal without effect; the time it took is gone."""
        self.began_sending = False

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
