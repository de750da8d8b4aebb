"""What the tests of faults share."""

from collections.abc import Callable, Iterator

import pytest
from tests.durability.struck_runs import worker_settings
from tests.plugins.forked_process import WarmStart
from tests.plugins.process_room import ProcessRoom, StartedProcess
from tests.plugins.running_service import RunningService
from tests.plugins.statement_proxy import StatementProxy


@pytest.fixture(scope="session")
def warm_start(process_room: ProcessRoom, tmp_path_factory: pytest.TempPathFactory) -> WarmStart:
    """A process that forks service processes."""
    return WarmStart.prepared(process_room, tmp_path_factory.mktemp("forked"))


@pytest.fixture
def fork_worker(api_alone: RunningService, warm_start: WarmStart) -> Iterator[Callable[..., StartedProcess]]:
    """Forks workers of one slot for `api_alone`, with further settings; they end with the test."""
    started: list[StartedProcess] = []

    def fork(**settings: str) -> StartedProcess:
        started.append(warm_start.launch(worker_settings(api_alone, **settings)))
        return started[-1]

    yield fork
    for worker in started:
        api_alone.room.end(worker)


@pytest.fixture
def statement_proxy(api_alone: RunningService) -> Iterator[StatementProxy]:
    """A proxy before the database of `api_alone`."""
    with StatementProxy(api_alone.settings["DATABASE_URL"]) as proxy:
        yield proxy
