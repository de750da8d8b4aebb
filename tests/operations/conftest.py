"""A service that is watched as closely as one can be."""

import json
from collections.abc import Callable, Iterator

import pytest
from tests.operations.delicate_data import PROVIDER_SECRET, delicate_catalogue
from tests.plugins.running_service import RunningService
from tests.plugins.scripted_providers import ScriptedProviders
from tests.plugins.trace_collector import TraceCollector, trace_collector


@pytest.fixture(scope="session")
def collector() -> Iterator[TraceCollector]:
    """A collector of traces that stands until the test process ends."""
    with trace_collector() as collecting:
        yield collecting


@pytest.fixture(scope="session")
def watched_service(
    standing_service: Callable[..., RunningService],
    collector: TraceCollector,
    tmp_path_factory: pytest.TempPathFactory,
) -> RunningService:
    """An API and a worker in one process that log all they can and send every span at once."""
    folder = tmp_path_factory.mktemp("delicate")
    catalogue, lost_secret = folder / "catalogue.json", folder / "secret"
    catalogue.write_text(json.dumps(delicate_catalogue(lost_secret=lost_secret)))
    lost_secret.write_text(PROVIDER_SECRET)
    service = standing_service(
        WORKER_ENABLED="true",
        LOG_LEVEL="DEBUG",
        TRACES_ENDPOINT=collector.url,
        OTEL_BSP_SCHEDULE_DELAY="50",
        INTEGRATION_CATALOGUE=str(catalogue),
        PROVIDER_SECRET=PROVIDER_SECRET,
    )
    lost_secret.unlink()
    return service


@pytest.fixture
def watched(watched_service: RunningService, providers: ScriptedProviders) -> RunningService:
    """The watched service, beside fresh doubles."""
    return watched_service
