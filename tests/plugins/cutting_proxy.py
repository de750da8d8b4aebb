"""A TCP proxy before PostgreSQL that cuts the connection at a COMMIT, or holds back an answer."""

import asyncio
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit, urlunsplit

_CHUNK_BYTES = 65536


class CuttingProxy:
    """Stand between a client and the server of a URL.

    `cut_next_commit` takes away the answer of one COMMIT that begins after it; what the server did with it stays
    done, since the answer has arrived here before the connection is cut. After `lose_next_commit` one COMMIT doesn't
    even arrive. After `hold_next` the answer to the next statement with such a word waits until
    `let_answers_through`; `held` is set meanwhile.
    """

    def __init__(self, url: str, *, port: int = 0) -> None:
        self._upstream = urlsplit(url)
        self._port = port
        self._server: asyncio.Server | None = None
        self._to_cut = 0
        self._to_lose = 0
        self._to_hold: bytes | None = None
        self._through = asyncio.Event()
        self.held = asyncio.Event()
        self._open: set[StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self.cuts = 0

    @property
    def url(self) -> str:
        assert self._server is not None, "the proxy has been entered"
        user, _, _ = self._upstream.netloc.rpartition("@")
        return urlunsplit(
            self._upstream._replace(netloc=f"{user}@127.0.0.1:{self.port}", query="sslmode=disable")
        )

    @property
    def port(self) -> int:
        assert self._server is not None, "the proxy has been entered"
        return int(self._server.sockets[0].getsockname()[1])

    def cut_next_commit(self) -> None:
        self._to_cut += 1

    def lose_next_commit(self) -> None:
        self._to_lose += 1

    def hold_next(self, word: bytes) -> None:
        self._to_hold = word

    def let_answers_through(self) -> None:
        self._through.set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None, "the proxy has been entered"
        self._server.close()
        for writer in self._open:
            writer.transport.abort()
        await self._server.wait_closed()
        await asyncio.gather(*self._serving, return_exceptions=True)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._open.add(writer)
        serving = asyncio.current_task()
        assert serving is not None, "each connection is served by a task"
        self._serving.add(serving)
        up_reader, up_writer = await asyncio.open_connection(self._upstream.hostname, self._upstream.port)
        cutting, holding = asyncio.Event(), asyncio.Event()
        tasks = [
            asyncio.create_task(self._requests(reader, up_writer, cutting, holding)),
            asyncio.create_task(self._answers(up_reader, writer, cutting, holding)),
        ]
        with suppress(OSError):
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._open.discard(writer)
        writer.transport.abort()
        up_writer.transport.abort()
        with suppress(OSError):
            await up_writer.wait_closed()

    async def _requests(
        self, reader: StreamReader, writer: StreamWriter, cutting: asyncio.Event, holding: asyncio.Event
    ) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            commits = b"COMMIT" in chunk
            if commits and self._to_lose:
                self._to_lose -= 1
                self.cuts += 1
                return
            if commits and self._to_cut:
                self._to_cut -= 1
                cutting.set()
            if self._to_hold is not None and self._to_hold in chunk:
                self._to_hold = None
                holding.set()
            writer.write(chunk)
            await writer.drain()

    async def _answers(
        self, reader: StreamReader, writer: StreamWriter, cutting: asyncio.Event, holding: asyncio.Event
    ) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            if cutting.is_set():
                self.cuts += 1
                return
            if holding.is_set():
                self.held.set()
                await self._through.wait()
            writer.write(chunk)
            await writer.drain()
