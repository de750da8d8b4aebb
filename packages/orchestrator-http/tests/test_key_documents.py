"""An issuer's documents are fetched within bounds, whatever the issuer answers."""

import asyncio
from collections.abc import AsyncIterator, Callable

import httpx2
import pytest

from orchestrator_http.http_documents import HttpDocuments
from orchestrator_http.key_documents import DocumentUnavailable

URL = "https://issuer.test/jwks.json"

type Answering = Callable[[httpx2.Request], httpx2.Response]


class Scripted(httpx2.AsyncBaseTransport):
    """Answer from a list, and count the calls."""

    def __init__(self, *answers: Answering) -> None:
        self._answers = list(answers)
        self.requests: list[httpx2.Request] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        return self._answers[min(len(self.requests), len(self._answers)) - 1](request)


def answer(status: int = 200, content: bytes = b'{"keys":[]}', **headers: str) -> Answering:
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _request: httpx2.Response(status, stream=Whole(content), headers=lines)


def broken(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("no route to 10.0.0.1", request=request)


class Whole(httpx2.AsyncByteStream):
    """Send what there is in chunks, as a connection does."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), 65_536):
            yield self._content[start : start + 65_536]


class Dripping(httpx2.AsyncByteStream):
    """Send one byte, then nothing more for ever."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()


def dripping(_request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, stream=Dripping())


async def test_a_document_is_read_as_exact_json() -> None:
    assert await HttpDocuments(transport=Scripted(answer()))(URL) == {"keys": []}


@pytest.mark.parametrize("first", [answer(503), answer(500), broken], ids=["503", "500", "connection"])
async def test_a_passing_fault_is_tried_once_more(first: Answering) -> None:
    transport = Scripted(first, answer())
    assert await HttpDocuments(transport=transport)(URL) == {"keys": []}
    assert len(transport.requests) == 2


@pytest.mark.parametrize("lasting", [answer(503), broken], ids=["503", "connection"])
async def test_a_lasting_fault_ends_after_a_bounded_number_of_tries(lasting: Answering) -> None:
    transport = Scripted(lasting)
    with pytest.raises(DocumentUnavailable) as refusal:
        await HttpDocuments(transport=transport)(URL)
    assert len(transport.requests) == 2
    assert "10.0.0.1" not in str(refusal.value)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(answer(404), id="404"),
        pytest.param(answer(302, location="https://evil.test/keys"), id="redirect"),
        pytest.param(answer(content=b"[" * 100_000), id="deep"),
        pytest.param(answer(content=b'{"keys":[],"keys":[1]}'), id="duplicate member"),
        pytest.param(answer(content='{"keys":[]}'.encode("utf-16")), id="UTF-16"),
        pytest.param(answer(content=b" " * 300_000 + b"{}"), id="large"),
        pytest.param(answer(content_encoding="br"), id="encoded"),
        pytest.param(answer(content=b""), id="empty"),
    ],
)
async def test_what_cannot_be_taken_is_asked_for_once(bad: Answering) -> None:
    transport = Scripted(bad)
    with pytest.raises(DocumentUnavailable):
        await HttpDocuments(transport=transport)(URL)
    assert [str(request.url) for request in transport.requests] == [URL]


async def test_an_issuer_that_drips_is_cut_off() -> None:
    with pytest.raises(DocumentUnavailable):
        await HttpDocuments(transport=Scripted(dripping), seconds_max=0.05)(URL)


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()

    # Nothing listens on port 1: whoever asks this proxy gets no document.
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "")
    async with await asyncio.start_server(answer_plainly, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await HttpDocuments()(f"http://127.0.0.1:{port}/jwks.json") == {}
