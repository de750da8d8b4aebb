import asyncio

import pytest

from orchestrator_sandbox.providers.wire import (
    BODY_BYTES_MAX,
    Answer,
    Received,
    RequestUnreadable,
    json_answer,
    read_request,
)


async def read(sent: bytes) -> Received | None:
    reader = asyncio.StreamReader(limit=64 * 1024)
    reader.feed_data(sent)
    reader.feed_eof()
    return await read_request(reader)


async def test_a_request_is_read_with_its_query_headers_and_body() -> None:
    sent = b"POST /a%20b?wait=1 HTTP/1.1\r\nIdempotency-Key: K \r\nContent-Length: 2\r\n\r\n{}"
    assert await read(sent) == Received(
        method="POST",
        path="/a b",
        query={"wait": "1"},
        headers={"idempotency-key": "K", "content-length": "2"},
        body=b"{}",
    )


async def test_a_chunked_body_is_put_together() -> None:
    sent = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    request = await read(sent)
    assert request is not None
    assert request.body == b"abcde"


async def test_a_closed_connection_holds_no_request() -> None:
    assert await read(b"") is None


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTT",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nContent-Length: -2\r\n\r\n{}",
        b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % (BODY_BYTES_MAX + 1),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFF\r\n",
        b"POST / HTTP/1.1\r\nA: " + b"a" * 70_000 + b"\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused(sent: bytes) -> None:
    with pytest.raises(RequestUnreadable):
        await read(sent)


def test_an_answer_says_its_length_unless_it_is_told_another() -> None:
    assert b"content-length: 4\r\n" in json_answer(200, None).head()
    lying = Answer(status=200, headers={"Content-Length": "9"}, body=b"{}")
    assert lying.head().count(b"content-length") == 1
    assert b"content-length: 9\r\n" in lying.head()
