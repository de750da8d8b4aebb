"""Remember the calls that arrived, the effects they had, and the ones that wait to be answered."""

import asyncio
from collections.abc import Callable

from attrs import define, field

from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_sandbox.providers.wire import Received


@define(kw_only=True)
class Call:
    """One call, in the order of arrival; `status` stays None while nothing was answered."""

    number: int
    request: Received
    template: str
    effect_applied: bool = False
    scripted: bool = False
    status: int | None = None

    def as_json(self) -> JsonObject:
        """Return the call as the control interface shows it."""
        headers = self.request.headers
        return {
            "number": self.number,
            "method": self.request.method,
            "path": self.request.path,
            "body": _readable(self.request.body),
            "idempotencyKey": headers.get("idempotency-key"),
            "fencingToken": headers.get("x-fencing-token"),
            "correlationId": headers.get("x-correlation-id"),
            "headers": dict(headers),
            "effectApplied": self.effect_applied,
            "scripted": self.scripted,
            "status": self.status,
        }


@define
class CallJournal:
    """All calls since the last reset, and a way to wait for more of them."""

    calls: list[Call] = field(factory=list)
    _held: list[asyncio.Future[None]] = field(factory=list)
    _changed: asyncio.Event = field(factory=asyncio.Event)

    def record(self, request: Received, template: str) -> Call:
        """Add a call."""
        call = Call(number=len(self.calls) + 1, request=request, template=template)
        self.calls.append(call)
        self._tell()
        return call

    def of(self, path: str | None) -> list[Call]:
        """Return the calls to a path or a path template, or all of them."""
        return [call for call in self.calls if path in (None, call.request.path, call.template)]

    @property
    def holding(self) -> int:
        """Return how many calls are held open."""
        return len(self._held)

    async def hold(self) -> None:
        """Wait for the next release."""
        held = asyncio.get_running_loop().create_future()
        self._held.append(held)
        self._tell()
        try:
            await held
        finally:
            if held in self._held:
                self._held.remove(held)

    def release(self) -> int:
        """Let all held calls go on, and return how many they were."""
        released, self._held = self._held, []
        for held in released:
            if not held.done():
                held.set_result(None)
        self._tell()
        return len(released)

    async def until(self, reached: Callable[[], bool], timeout_seconds: float) -> None:
        """Return when the condition holds, or when the time is over."""
        try:
            async with asyncio.timeout(timeout_seconds):
                while not reached():
                    await self._changed.wait()
        except TimeoutError:
            return

    def _tell(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _readable(body: bytes) -> JsonValue:
    try:
        return parse_json(body) if body else None
    except MalformedJson:
        return body.decode(errors="replace")
