"""One exchange over HTTP: send, read at most so much, and take the body as exact JSON or say why not."""

from contextlib import aclosing

import httpx2

from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_worker.provider_answer import Answer, Body, BodyFault, Json, NoJson

_ENCODINGS = ("", "identity", "gzip")
OFFERED = {"Accept": "application/json", "Accept-Encoding": "gzip"}
"""The headers that say which answers can be read."""


async def exchanged(pool: httpx2.AsyncClient, request: httpx2.Request, *, bytes_max: int) -> Answer:
    """Send a request and read its answer; raises the faults of the transport."""
    response = await pool.send(request, stream=True)
    try:
        body = await _body_of(response, bytes_max)
    finally:
        await response.aclose()
    return Answer(status=response.status_code, headers=_single(response.headers), body=body)


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
