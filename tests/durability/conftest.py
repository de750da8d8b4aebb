"""What the tests of faults share."""

from collections.abc import Iterator

import pytest
from tests.plugins.forked_process import WarmStart
from tests.plugins.process_room import ProcessRoom
from tests.plugins.running_service import RunningService
from tests.plugins.statement_proxy import StatementProxy


@pytest.fixture(scope="session")
def warm_start(process_room: ProcessRoom, tmp_path_factory: pytest.TempPathFactory) -> WarmStart:
    """A process that forks service processes."""
    return WarmStart.prepared(process_room, tmp_path_factory.mktemp("forked"))


@pytest.fixture
def statement_proxy(api_alone: RunningService) -> Iterator[StatementProxy]:
    """A proxy before the database of `api_alone`."""
    with StatementProxy(api_alone.settings["DATABASE_URL"]) as proxy:
        yield proxy
