"""Calls of clients as spans of a trace: the one that the client belongs to, or a new one.

The header `traceparent` (W3C Trace Context) is taken if it stands alone and is whole; `tracestate` and baggage are not
taken, for they may hold anything and would be passed on to others. Attributes are methods, templates, statuses and codes.
"""

from typing import Final

from attrs import frozen
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import NoOpTracer, Span, SpanKind, Status, StatusCode, Tracer, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator_domain.identifiers import TraceParent

_HEADER: Final = b"traceparent"
_CHARACTERS: Final = 55
_WIRE: Final = TraceContextTextMapPropagator()


@frozen(kw_only=True)
class TracedRequests:
    """Put a span around each call; where nothing is recorded, merely pass the client's place in a trace on."""

    inner: ASGIApp
    tracer: Tracer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        # A server may begin a pipelined request inside the one before; it is no part of that one.
        token = attach(_sent_place(scope["headers"]))
        try:
            await self._traced(scope, receive, send)
        finally:
            detach(token)

    async def _traced(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not records(self.tracer):
            await self.inner(scope, receive, send)
            return
        with self.tracer.start_as_current_span(
            "request", kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            if not span.is_recording():
                await self.inner(scope, receive, send)
                return

            async def told(message: Message) -> None:
                if message["type"] == "http.response.start":
                    _tell(span, scope, message["status"])
                await send(message)

            await self.inner(scope, receive, told)


def records(tracer: Tracer) -> bool:
    """Say whether spans are worth making; even those that record nothing take their time."""
    return not isinstance(tracer, NoOpTracer)


def place_in_trace() -> TraceParent | None:
    """Return where in a trace the caller is, as `traceparent` writes it, or None outside of any."""
    if not get_current_span().get_span_context().is_valid:
        return None
    place: dict[str, str] = {}
    _WIRE.inject(place)
    return TraceParent(place["traceparent"])


def _sent_place(headers: list[tuple[bytes, bytes]]) -> Context:
    """Return the place that the client names, or that of no trace."""
    sent = [value for name, value in headers if name == _HEADER]
    # Nothing longer is looked at: what a later version of the standard appends is not ours to pass on.
    if len(sent) != 1 or len(sent[0]) != _CHARACTERS:
        return Context()
    return _WIRE.extract({"traceparent": sent[0].decode("latin-1")})


def _tell(span: Span, scope: Scope, status: int) -> None:
    route = getattr(scope.get("endpoint"), "path", None)
    span.update_name(f"{scope['method']} {route}" if route else "request")
    if route:
        span.set_attribute("http.request.method", scope["method"])
        span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(Status(StatusCode.ERROR))
