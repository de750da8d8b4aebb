"""Where spans go is said by one setting, and what it needs is said at the start."""

import sys
from contextlib import AsyncExitStack
from threading import Event

import pytest
from opentelemetry.sdk.trace import TracerProvider

from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.settings import read_settings
from orchestrator_service.tracing import opened_tracer_provider

DATABASE = {"DATABASE_URL": "postgresql://runtime@db.example/orchestrator"}


async def test_without_a_collector_nothing_is_recorded() -> None:
    async with AsyncExitStack() as opened:
        provider = await opened_tracer_provider(read_settings(DATABASE).traces_endpoint, opened)
        with provider.get_tracer("test").start_as_current_span("anything") as span:
            assert not span.is_recording()


async def test_with_a_collector_everything_is() -> None:
    async with AsyncExitStack() as opened:
        provider = await opened_tracer_provider("http://127.0.0.1:1/v1/traces", opened)
        span = provider.get_tracer("test").start_span("anything")
        assert span.is_recording()
        # It never ends, so that nothing has to be sent to where nobody listens.


async def test_a_collector_without_the_extra_refuses_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    async with AsyncExitStack() as opened:
        with pytest.raises(SettingsInvalid) as refusal:
            await opened_tracer_provider("http://127.0.0.1:1/v1/traces", opened)
    assert "the extra otlp" in refusal.value.faults[0]


async def test_an_end_does_not_wait_for_a_collector_that_never_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("orchestrator_service.tracing._LAST_SPANS_SECONDS_MAX", 0.01)
    let_go, given_up = Event(), Event()

    def never_answered(_provider: TracerProvider) -> None:
        let_go.wait(5)
        given_up.set()

    monkeypatch.setattr(TracerProvider, "shutdown", never_answered)
    async with AsyncExitStack() as opened:
        await opened_tracer_provider("http://127.0.0.1:1/v1/traces", opened)
    # The end is over while the library still waits for its answer.
    assert not given_up.is_set()
    let_go.set()


def test_a_collector_s_address_is_a_url() -> None:
    with pytest.raises(SettingsInvalid) as refusal:
        read_settings({**DATABASE, "TRACES_ENDPOINT": "collector:4318"})
    assert refusal.value.faults == (
        "TRACES_ENDPOINT is not a URL of a collector; it begins with http:// or https://.",
    )
