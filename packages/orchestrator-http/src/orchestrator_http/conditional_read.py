"""Reads that cost nothing while nothing changes: If-None-Match (RFC 9110) and Prefer: wait (RFC 7240)."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping

from attrs import field, frozen
from starlette.responses import Response

from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_http.call import Call
from orchestrator_http.change_poll import ChangePoll, Watched
from orchestrator_http.payloads import PRIVATE, json_response
from orchestrator_http.preconditions import NoneMatch, optional_none_match
from orchestrator_http.preferences import preferred_wait_seconds


@frozen(kw_only=True)
class Representation:
    """What a reader is shown now. `final` says that it will never change; `headers` go along with it."""

    body: JsonObject
    tag: str
    final: bool = False
    headers: Mapping[str, str] = field(factory=dict)


type Look = Callable[[], Awaitable[Representation]]


def content_tag(body: JsonObject) -> str:
    """Return the strong ETag of exactly what is shown."""
    return f'"{hashlib.sha256(canonical_bytes(body)).hexdigest()[:32]}"'


@frozen(kw_only=True)
class ConditionalReads:
    """Answer reads of what changes by itself."""

    poll: ChangePoll

    async def answer(self, call: Call, watched: Watched, look: Look) -> Response:
        """Answer 200, or 304 while the reader's copy is current.

        With `Prefer: wait=N` the answer is held back until what is shown differs from the reader's copy (or, without
        If-None-Match, from what was there at first), for N seconds at most and never longer than 30; what was applied is
        told. What can't change isn't waited for.
        """
        none_match = optional_none_match(call.headers)
        seconds = preferred_wait_seconds(call.headers)
        if seconds is None or not self.poll.takes_more:
            return _answer(await look(), none_match)
        shown = await self._changed(watched, look, none_match, seconds)
        return _answer(shown, none_match, applied=f"wait={seconds}")

    async def _changed(
        self, watched: Watched, look: Look, none_match: NoneMatch | None, seconds: int
    ) -> Representation:
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        mark = await self.poll.mark(watched)
        first = shown = await look()
        while not shown.final and _is_known(shown, first, none_match) and clock() < deadline:
            await self.poll.changed(watched, mark, timeout_seconds=deadline - clock())
            if self.poll.draining():
                return await look()
            # Another mark isn't yet another thing to see: the reader's view may be the same.
            mark = await self.poll.mark(watched)
            shown = await look()
        return shown


def _is_known(shown: Representation, first: Representation, none_match: NoneMatch | None) -> bool:
    return shown.tag == first.tag if none_match is None else none_match.holds(shown.tag)


def _answer(shown: Representation, none_match: NoneMatch | None, *, applied: str | None = None) -> Response:
    headers = {**PRIVATE, "ETag": shown.tag, **shown.headers}
    if applied is not None:
        headers["Preference-Applied"] = applied
    if none_match is not None and none_match.holds(shown.tag):
        return Response(status_code=304, headers=headers)
    return json_response(shown.body, headers=headers)
