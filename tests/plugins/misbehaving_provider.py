"""A provider on loopback that answers, or fails to, exactly as a test scripts it."""

import asyncio
import gzip
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Self

from attrs import frozen


@frozen(kw_only=True)
class ReceivedRequest:
    """One request as it came in; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


type Behaviour = Callable[["Connection"], Awaitable[None]]


class Connection:
    """One connection, as a behaviour uses it."""

    def __init__(
        self, provider: "MisbehavingProvider", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.provider = provider
        self._reader = reader
        self._writer = writer

    async def receive(self) -> ReceivedRequest | None:
        """Read one request and note it; None once the caller has closed."""
        try:
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:] if line)}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        request = ReceivedRequest(method=method, target=target, headers=headers, body=body)
        self.provider.requests.append(request)
        self.provider.received.set()
        return request

    async def send(self, content: bytes) -> None:
        self._writer.write(content)
        await self._writer.drain()

    async def closed_by_caller(self) -> None:
        try:
            await self._reader.read()
        except ConnectionError:
            return

    def reset(self) -> None:
        """Break the connection without saying goodbye."""
        self._writer.transport.abort()


def response(
    status: int, body: bytes = b"", *, headers: str = "", declared_length: int | None = None
) -> bytes:
    """Return a whole answer, or one that lies about its length."""
    length = len(body) if declared_length is None else declared_length
    return f"HTTP/1.1 {status} Scripted\r\nContent-Length: {length}\r\n{headers}\r\n".encode() + body


def answering(*answers: bytes) -> Behaviour:
    """Answer one request after the other on one connection, then close it."""

    async def behave(connection: Connection) -> None:
        for answer in answers:
            if await connection.receive() is None:
                return
            await connection.send(answer)

    return behave


def dripping(head: bytes, drop: bytes) -> Behaviour:
    """Never stop answering, and never get anywhere."""

    async def behave(connection: Connection) -> None:
        await connection.receive()
        await connection.send(head)
        closed = asyncio.create_task(connection.closed_by_caller())
        while not closed.done():
            await connection.send(drop)
            await asyncio.wait({closed}, timeout=0.01)

    return behave


async def answering_unasked(connection: Connection) -> None:
    """Say something before anything was asked, which no TLS handshake survives."""
    await connection.send(response(400))
    await connection.closed_by_caller()


async def saying_nothing(connection: Connection) -> None:
    """Take the request and leave the caller waiting."""
    await connection.receive()
    await connection.closed_by_caller()


async def reset_before_reading(connection: Connection) -> None:
    connection.reset()


async def reset_after_reading(connection: Connection) -> None:
    await connection.receive()
    connection.reset()


async def reset_at_second_request(connection: Connection) -> None:
    """Answer once, keep the connection, and break it when it is used again."""
    await connection.receive()
    await connection.send(response(200, b'{"found": true}'))
    await connection.receive()
    connection.reset()


def bomb(decoded_bytes: int) -> bytes:
    """Return a small answer that unpacks to very much."""
    packed = gzip.compress(b" " * decoded_bytes)
    return response(200, packed, headers="Content-Encoding: gzip\r\n")


class MisbehavingProvider:
    """Serve each connection by the next behaviour of the script, the last one again and again."""

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self.received = asyncio.Event()
        self.connections = 0
        self.base_url = ""
        self._script: deque[Behaviour] = deque()
        self._serving: set[asyncio.Task[None]] = set()

    def script(self, *behaviours: Behaviour) -> Self:
        self._script.extend(behaviours)
        return self

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        self.connections += 1
        behaviour = self._script.popleft() if len(self._script) > 1 else self._script[0]
        try:
            await behaviour(Connection(self, reader, writer))
        except ConnectionError:
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def close(self) -> None:
        for task in tuple(self._serving):
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)


@asynccontextmanager
async def misbehaving_provider() -> AsyncIterator[MisbehavingProvider]:
    """Start a provider on a free port of loopback."""
    provider = MisbehavingProvider()
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    provider.base_url = f"http://{host}:{port}"
    try:
        yield provider
    finally:
        server.close()
        await provider.close()
        await server.wait_closed()
