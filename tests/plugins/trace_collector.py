"""A collector of traces, as a deployment has one: OTLP over HTTP, on loopback."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from attrs import define, field, frozen
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.plugins.patience import wait_until


@frozen(kw_only=True)
class Span:
    """One span that arrived; ids as hexadecimal digits, no parent as an empty text."""

    name: str
    trace: str
    id: str
    parent: str
    attributes: Mapping[str, Any]


@define(kw_only=True)
class TraceCollector:
    """What has arrived, as bytes and as spans."""

    url: str
    received: list[bytes] = field(factory=list)

    def spans(self) -> list[Span]:
        return [span for body in tuple(self.received) for span in _spans_of(body)]

    def named(self, name: str, *, of_trace: str) -> Span:
        """Wait for a span of a trace, and return it."""
        return self._awaited(f"the span {name}", lambda span: (span.name, span.trace) == (name, of_trace))

    def named_now(self, name: str, *, at_least: int) -> None:
        """Wait until so many spans of a name have arrived."""
        wait_until(
            f"{at_least} spans {name}", lambda: sum(span.name == name for span in self.spans()) >= at_least
        )

    def with_id(self, span_id: str, *, of_trace: str) -> Span:
        """Wait for the span with an id, and return it."""
        return self._awaited("a span", lambda span: (span.id, span.trace) == (span_id, of_trace))

    def _awaited(self, what: str, fits: Callable[[Span], bool]) -> Span:
        return wait_until(what, lambda: next(filter(fits, self.spans()), None))


@contextmanager
def trace_collector() -> Iterator[TraceCollector]:
    """Collect until the context ends."""
    received: list[bytes] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield TraceCollector(url=f"http://127.0.0.1:{server.server_address[1]}/v1/traces", received=received)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _spans_of(body: bytes) -> Iterator[Span]:
    whole = ExportTraceServiceRequest.FromString(body)
    for resource in whole.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    name=span.name,
                    trace=span.trace_id.hex(),
                    id=span.span_id.hex(),
                    parent=span.parent_span_id.hex(),
                    attributes={
                        each.key: getattr(each.value, str(each.value.WhichOneof("value")))
                        for each in span.attributes
                    },
                )
