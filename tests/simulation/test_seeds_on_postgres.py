"""The same histories over PostgreSQL: its statements keep what the store in memory keeps.

Here a step is a whole transaction, and a crash leaves its connection to whoever comes next.
"""

from collections.abc import AsyncIterator

import pytest
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness
from tests.plugins.simulation_seeds import first_seed
from tests.simulation.broken_parts import StartStoredAfterTheCall, key_changes_with_each_attempt
from tests.simulation.postgres_stage import PostgresStage
from tests.simulation.seeds import failure_on
from tests.simulation.stage import Make

_CHUNK = 10


@pytest.fixture
async def harness(database: TestDatabase) -> AsyncIterator[PostgresHarness]:
    """The ports on a database of the test's own."""
    async with PostgresHarness(database) as entered:
        yield entered


async def require_promises(harness: PostgresHarness, chunk: int) -> None:
    """Run a chunk of seeds, one after the other."""
    first = first_seed() + chunk * _CHUNK
    for seed in range(first, first + _CHUNK):
        trace: list[str] = []
        stage = PostgresStage(harness)
        await stage.empty()
        failure = await failure_on(stage, seed, trace=trace)
        if failure is not None:
            pytest.fail(str(failure), pytrace=False)


@pytest.mark.parametrize("chunk", range(4))
async def test_no_seed_breaks_a_promise_on_postgres(harness: PostgresHarness, chunk: int) -> None:
    await require_promises(harness, chunk)


@pytest.mark.parametrize(
    "make",
    [Make(runner=StartStoredAfterTheCall), Make(attempt=key_changes_with_each_attempt)],
    ids=["start-stored-after-the-call", "key-changes-with-each-attempt"],
)
async def test_a_protocol_with_one_protection_left_out_is_caught_on_postgres_too(
    harness: PostgresHarness, make: Make
) -> None:
    for seed in range(10):
        stage = PostgresStage(harness)
        await stage.empty()
        if await failure_on(stage, seed, make) is not None:
            return
    pytest.fail("No seed catches it.")


@pytest.mark.exhaustive
@pytest.mark.parametrize("chunk", range(4, 100))
async def test_none_of_many_seeds_breaks_a_promise_on_postgres(harness: PostgresHarness, chunk: int) -> None:
    await require_promises(harness, chunk)
