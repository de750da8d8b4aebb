"""Where spans go: to a collector, if the settings name one and the extra `otlp` is installed; else nowhere.

What isn't a setting of ours is read by OpenTelemetry's own library from its own variables (OTEL_TRACES_SAMPLER,
OTEL_RESOURCE_ATTRIBUTES, OTEL_EXPORTER_OTLP_HEADERS and others).
"""

import asyncio
from contextlib import AsyncExitStack
from typing import Final

from opentelemetry.trace import NoOpTracerProvider, TracerProvider

from orchestrator_service.environment import SettingsInvalid

SCOPE_NAME: Final = "orchestrator"


async def opened_tracer_provider(endpoint: str | None, opened: AsyncExitStack) -> TracerProvider:
    """Return what makes tracers; what waits to be sent is sent when `opened` is closed.

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
    except ImportError:
        raise SettingsInvalid(
            ("TRACES_ENDPOINT is set, but the extra otlp of orchestrator-service is not installed.",)
        ) from None
    provider = RecordingProvider(
        resource=Resource.create({"service.name": SCOPE_NAME}), shutdown_on_exit=False
    )
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    opened.push_async_callback(asyncio.to_thread, provider.shutdown)
    return provider
