"""How a provider's host is reached: resolved once, checked, and connected to by the very address that was checked."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from ssl import SSLContext
from typing import Any

import httpcore2
import httpx2

from orchestrator_worker.address_check import Network, permitted_addresses

type Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Return the addresses of a host, best first; raise OSError or UnicodeError if it has none."""

TRANSPORT_FAULTS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    httpx2.HTTPError,
    httpx2.StreamError,
    OSError,
)
"""All that a call can fail with on its way; OSError holds the builtin TimeoutError."""

NO_FREE_CONNECTION = httpcore2.PoolTimeout
"""What a call fails with that found every connection of its pool in use for too long; nothing of it has left."""

_KEEPALIVE_SECONDS = 15.0


class AddressRefused(httpcore2.ConnectError):
    """No address of the host is one that may be connected to."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve as the operating system does."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Send requests over a pool whose connections lead to checked addresses only; TLS still verifies the host's name."""

    def __init__(
        self, *, tls: SSLContext, networks: Collection[Network], resolve: Resolve, connections_max: int
    ) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=connections_max,
            max_keepalive_connections=connections_max,
            keepalive_expiry=_KEEPALIVE_SECONDS,
            http1=True,
            http2=False,
            retries=0,
            network_backend=_CheckedNetwork(networks, resolve),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass a request to the pool; raises its faults as they are."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        url = httpcore2.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        answer = await self._pool.handle_async_request(
            httpcore2.Request(
                method=request.method,
                url=url,
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        return httpx2.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_AnswerStream(answer),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _AnswerStream(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._answer.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._answer.aclose()


class _CheckedNetwork(httpcore2.AsyncNetworkBackend):
    """Connect to what was checked; a second resolution could say something else (DNS rebinding)."""

    def __init__(self, networks: Collection[Network], resolve: Resolve) -> None:
        self._networks = networks
        self._resolve = resolve
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Try one permitted address after the other within the time; raises AddressRefused if there is none."""
        deadline = asyncio.timeout(timeout)
        try:
            async with deadline:
                addresses = await self._permitted(host, port)
                for address in addresses[:-1]:
                    try:
                        async with asyncio.timeout(_share(deadline, len(addresses))):
                            return await self._sockets.connect_tcp(
                                address, port, None, local_address, socket_options
                            )
                    except (httpcore2.ConnectError, TimeoutError):
                        continue
                return await self._sockets.connect_tcp(
                    addresses[-1], port, None, local_address, socket_options
                )
        except TimeoutError:
            raise httpcore2.ConnectTimeout from None

    async def _permitted(self, host: str, port: int) -> Sequence[str]:
        try:
            resolved = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise httpcore2.ConnectError("The host has no address.") from None
        permitted = permitted_addresses(resolved, self._networks)
        if not permitted:
            raise AddressRefused("The host has no address that may be connected to.")
        return permitted

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _share(deadline: asyncio.Timeout, addresses: int) -> float | None:
    """Return this address's part of the time, so that a dead first address leaves some to the next."""
    by = deadline.when()
    return None if by is None else (by - asyncio.get_running_loop().time()) / addresses
