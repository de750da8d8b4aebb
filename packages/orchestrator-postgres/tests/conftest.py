"""What the tests of the PostgreSQL adapter may ask for."""

from collections.abc import AsyncIterator

import pytest
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness, PostgresWakeupHarness


@pytest.fixture
async def harness(database: TestDatabase) -> AsyncIterator[PostgresHarness]:
    """The ports on a database of the test's own."""
    async with PostgresHarness(database) as entered:
        yield entered


@pytest.fixture
async def wakeup_harness(database: TestDatabase) -> AsyncIterator[PostgresWakeupHarness]:
    """The two ends of a wakeup on a database of the test's own."""
    async with PostgresWakeupHarness(database) as entered:
        yield entered
