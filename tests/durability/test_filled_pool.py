"""A handler that takes every connection of its process's pool keeps its lease (protocol, race 4)."""

import asyncio
from contextlib import AsyncExitStack
from datetime import datetime, timedelta

import pytest
from attrs import frozen
from tests.durability.test_blocking_handler import REGISTERED, registering_a_document
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService

from orchestrator_domain.execution.attempt import ActionResult
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
from orchestrator_postgres.engine import PostgresEngine
from orchestrator_service.assembly import worker as worker_assembly
from orchestrator_service.assembly.service import assembled
from orchestrator_service.settings import read_settings
from orchestrator_worker.action_types import REGISTER_DOCUMENT
from orchestrator_worker.handlers import HandlerRegistry

LEASE = timedelta(seconds=1)
CONNECTIONS_MAX = 2


@frozen(kw_only=True)
class GreedyHandler(ActionHandler):
    """Hold every connection that there is until the lease lasts well beyond what it was claimed with."""

    database: TestDatabase
    engine: PostgresEngine

    @property
    def type(self) -> str:
        return REGISTER_DOCUMENT

    async def execute(self, _definition: ActionDefinition, context: ActionContext) -> ActionResult:
        first = self._lease_end(context)
        async with AsyncExitStack() as taken:
            for _ in range(CONNECTIONS_MAX):
                await taken.enter_async_context(self.engine.connection())
            await asyncio.to_thread(
                wait_until, "renewals", lambda: self._lease_end(context) - first > 2 * LEASE
            )
        return REGISTERED

    def _lease_end(self, context: ActionContext) -> datetime:
        rows = self.database.execute(
            "SELECT lease_until FROM orchestrator.execution WHERE id = %s AND fencing_token = %s",
            context.execution_id,
            context.fencing_token,
        )
        lease_end: datetime = rows[0][0]
        return lease_end


async def test_a_handler_that_fills_the_pool_for_longer_than_its_lease_keeps_it(
    api_alone: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        worker_assembly,
        "_registry",
        lambda parts, _client: HandlerRegistry(
            [GreedyHandler(database=api_alone.database, engine=parts.engine)], observer=parts.observer
        ),
    )
    variables = {
        "DATABASE_URL": api_alone.settings["DATABASE_URL"],
        "DATABASE_POOL": str(CONNECTIONS_MAX),
        "WORKER_ENABLED": "true",
        "WORKER_POLL_MS": "50",
        "WORKER_LEASE_SECONDS": str(LEASE.total_seconds()),
        "WORKER_RENEW_SECONDS": "0.2",
    }
    analyst = api_alone.user()
    execution = analyst.start(analyst.create(api_alone.offer(registering_a_document())), "REGISTRAR")

    async with assembled(read_settings(variables), variables) as service:
        assert service.worker is not None
        running = asyncio.create_task(service.worker.run())
        ended = await asyncio.to_thread(analyst.ended, execution)
        service.worker.stop()
        await running

    assert (ended["status"], ended["errorCode"]) == ("SUCCEEDED", None)
