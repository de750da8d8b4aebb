"""Where spans go: to a collector, if the settings name one and the extra `otlp` is installed; else nowhere.

What isn't a setting of ours is read by OpenTelemetry's own library from its own variables (OTEL_TRACES_SAMPLER,
OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS and others).
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from threading import Thread
from typing import Final

from opentelemetry.trace import NoOpTracerProvider, TracerProvider

from orchestrator_service.environment import SettingsInvalid

SCOPE_NAME: Final = "orchestrator"
_LAST_SPANS_SECONDS_MAX: Final = 3.0
"""How long an end waits for the collector; the library would wait for half a minute, longer than supervisors may."""


async def opened_tracer_provider(endpoint: str | None, opened: AsyncExitStack) -> TracerProvider:
    """Return what makes tracers; what waits to be sent is sent when `opened` is closed.

    A collector that doesn't take them within a few seconds doesn't get them.

    Raises SettingsInvalid when an endpoint is named and the extra isn't installed.
    """
    if endpoint is None:
        return NoOpTracerProvider()
    try:
        # Imported only where it is asked for: an image without the extra sends no traces.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider as RecordingProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

        from orchestrator_service.collector_answers import session_without_bodies  # noqa: PLC0415
    except ImportError:
        raise SettingsInvalid(
            ("TRACES_ENDPOINT is set, but the extra otlp of orchestrator-service is not installed.",)
        ) from None
    provider = RecordingProvider(
        resource=Resource.create({"service.name": SCOPE_NAME}), shutdown_on_exit=False
    )
    exporter = OTLPSpanExporter(endpoint=endpoint, session=session_without_bodies())
    provider.add_span_processor(BatchSpanProcessor(exporter))
    opened.push_async_callback(_sent_or_given_up, provider.shutdown)
    return provider


async def _sent_or_given_up(send_what_waits: Callable[[], None]) -> None:
    # A thread of the loop's own executor would be waited for when the loop closes.
    sending = Thread(target=send_what_waits, name="last-spans", daemon=True)
    sending.start()
    await asyncio.to_thread(sending.join, _LAST_SPANS_SECONDS_MAX)
