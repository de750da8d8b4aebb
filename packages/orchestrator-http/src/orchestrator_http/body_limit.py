"""Reading a body without trusting what was announced about it."""

import asyncio
import re
from typing import Final

from attrs import frozen
from starlette.types import Receive

from orchestrator_http.header_lines import HeaderLines
from orchestrator_http.refusals import BodyTooLarge, BodyTooSlow, ClientGone, InvalidBody, InvalidHeader

_LENGTH: Final = re.compile(r"[0-9]{1,19}")


@frozen(kw_only=True)
class BodyLimit:
    """How large a body may be and how long it may take to arrive, whatever the client says and however it drips."""

    bytes_max: int
    seconds_max: float


async def bounded_body(receive: Receive, headers: HeaderLines, limit: BodyLimit) -> bytes:
    """Return the whole body, holding no more than the limit of it at any time.

    Raises BodyTooLarge (announced or counted), BodyTooSlow, InvalidHeader for a length that is no number, InvalidBody
    if the announced length was not true, and ClientGone.
    """
    announced = _announced_bytes(headers)
    if announced is not None and announced > limit.bytes_max:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(limit.seconds_max):
            body = await _counted(receive, limit)
    except TimeoutError:
        raise BodyTooSlow("The body didn't arrive in time: send it again, faster.") from None
    if announced is not None and announced != len(body):
        raise InvalidBody("The body isn't as long as Content-Length says.")
    return body


def _announced_bytes(headers: HeaderLines) -> int | None:
    text = headers.one("Content-Length")
    if text is None:
        return None
    if not _LENGTH.fullmatch(text):
        raise InvalidHeader("Content-Length isn't a number of bytes.")
    return int(text)


async def _counted(receive: Receive, limit: BodyLimit) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        if len(body) + len(chunk) > limit.bytes_max:
            raise _too_large(limit)
        body += chunk
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(limit: BodyLimit) -> BodyTooLarge:
    return BodyTooLarge(f"The body is larger than {limit.bytes_max} bytes, the most that is taken here.")
