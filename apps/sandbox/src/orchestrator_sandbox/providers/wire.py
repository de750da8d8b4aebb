"""Read requests and write answers of HTTP/1.1, by hand, so that an answer can be wrong in every way."""

import asyncio
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import evolve, field, frozen

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonValue

HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 4 * 1024 * 1024


class RequestUnreadable(ValueError):
    """What arrived is no HTTP/1.1 request, or one that is larger than this server reads."""


@frozen(kw_only=True)
class Received:
    """One request; header names in lower case."""

    method: str
    path: str
    query: dict[str, str] = field(factory=dict)
    headers: dict[str, str] = field(factory=dict)
    body: bytes = b""

    @property
    def keeps_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


@frozen(kw_only=True)
class Answer:
    """One answer; its headers replace the ones that are derived from the body."""

    status: int
    headers: dict[str, str] = field(factory=dict)
    body: bytes = b""

    def head(self) -> bytes:
        """Return the status line and the headers, a claimed Content-Length included even if it is a lie."""
        derived = {"content-type": "application/json", "content-length": str(len(self.body))}
        headers = derived | {name.lower(): value for name, value in self.headers.items()}
        lines = [f"HTTP/1.1 {self.status} {_reason(self.status)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def json_answer(status: int, value: JsonValue) -> Answer:
    """Return an answer with this value as its body, its numbers exactly as they are."""
    return Answer(status=status, body=dump_json(value).encode())


async def read_request(reader: asyncio.StreamReader) -> Received | None:
    """Read the next request of a connection, None when the client has closed it.

    Raises RequestUnreadable.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if end.partial:
            raise RequestUnreadable("The request ends within its headers.") from end
        return None
    except asyncio.LimitOverrunError as error:
        raise RequestUnreadable(f"The headers exceed {HEAD_BYTES_MAX} bytes.") from error
    request = _parsed_head(head.decode("latin-1"))
    return evolve(request, body=await _read_body(reader, request.headers))


def _parsed_head(head: str) -> Received:
    request_line, *lines = head.rstrip("\r\n").split("\r\n")
    try:
        method, target, _ = request_line.split(" ")
        fields = (line.split(":", 1) for line in lines)
        headers = {name.lower(): value.strip() for name, value in fields}
        parts = urlsplit(target)
    except ValueError as error:
        raise RequestUnreadable("The request line or a header is malformed.") from error
    return Received(
        method=method, path=unquote(parts.path), query=dict(parse_qsl(parts.query)), headers=headers
    )


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    try:
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return await _read_chunks(reader)
        return await _read_exactly(reader, int(headers.get("content-length", "0")))
    except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise RequestUnreadable("The body does not have the length that its headers say.") from error


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await _read_exactly(reader, size)
        await reader.readuntil(b"\r\n")
        _refuse_excess(len(body))
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return body


async def _read_exactly(reader: asyncio.StreamReader, size: int) -> bytes:
    _refuse_excess(size)
    return await reader.readexactly(size)


def _refuse_excess(size: int) -> None:
    if size > BODY_BYTES_MAX:
        raise RequestUnreadable(f"The body exceeds {BODY_BYTES_MAX} bytes.")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"
