"""The PostgreSQL queue agrees with the model of a queue, whatever happens."""

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest
from attrs import frozen
from hypothesis import settings
from tests.plugins.migrated_database import DELETE_EVERYTHING, TestDatabase
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.testing.contracts.queue_machine import QueueMachineContract


@frozen
class PostgresRoom:
    """A harness on an event loop that runs only while a rule awaits something."""

    harness: PostgresHarness
    loop: asyncio.Runner

    def emptied(self) -> PostgresHarness:
        self.loop.run(self._empty())
        return self.harness

    def run[Result](self, story: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run(story)

    async def _empty(self) -> None:
        await self.harness.superuser.execute(DELETE_EVERYTHING.encode())


@pytest.fixture
def room(database: TestDatabase) -> Iterator[PostgresRoom]:
    """The ports on a database of the test's own."""
    with asyncio.Runner() as loop:
        harness = PostgresHarness(database)
        loop.run(harness.__aenter__())
        yield PostgresRoom(harness, loop)
        loop.run(harness.__aexit__())


class TestPostgresQueueMachine(QueueMachineContract):
    """Runs the shared machine, less often: each of its steps is a handful of statements."""

    histories = settings(QueueMachineContract.histories, max_examples=10)


@pytest.mark.exhaustive
class TestPostgresQueueMachineLonger(QueueMachineContract):
    """Runs the shared machine for longer."""

    histories = settings(QueueMachineContract.histories, max_examples=150)
