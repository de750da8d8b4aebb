"""A handler that blocks its worker's event loop keeps its lease."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from attrs import frozen
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.patience import wait_until
from tests.plugins.running_service import RunningService

from orchestrator_domain.execution.attempt import ActionResult, Succeeded
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
from orchestrator_service.assembly import worker as worker_assembly
from orchestrator_service.assembly.service import assembled
from orchestrator_service.settings import read_settings
from orchestrator_worker.action_types import REGISTER_DOCUMENT
from orchestrator_worker.handlers import HandlerRegistry

LEASE = timedelta(seconds=1)
REGISTERED = Succeeded(
    result={
        "status": "VALID",
        "reasonCodes": [],
        "documentId": "D-1",
        "documentType": "INE",
        "mimeType": "image/png",
        "sizeBytes": 1,
        "checksum": "0" * 64,
    }
)


@frozen(kw_only=True)
class BlockingHandler(ActionHandler):
    """Let nothing else happen on the event loop until its lease lasts well beyond what it was claimed with."""

    database: TestDatabase

    @property
    def type(self) -> str:
        return REGISTER_DOCUMENT

    async def execute(self, _definition: ActionDefinition, context: ActionContext) -> ActionResult:
        first = self._lease_end(context)
        wait_until("renewals of the lease", lambda: self._lease_end(context) - first > 2 * LEASE)
        return REGISTERED

    def _lease_end(self, context: ActionContext) -> Any:
        rows = self.database.execute(
            "SELECT lease_until FROM orchestrator.execution WHERE id = %s AND fencing_token = %s",
            context.execution_id,
            context.fencing_token,
        )
        return rows[0][0]


async def test_a_handler_that_blocks_the_event_loop_for_longer_than_its_lease_keeps_it(
    api_alone: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = BlockingHandler(database=api_alone.database)
    monkeypatch.setattr(
        worker_assembly,
        "_registry",
        lambda parts, _client: HandlerRegistry([handler], observer=parts.observer),
    )
    variables = {
        "DATABASE_URL": api_alone.settings["DATABASE_URL"],
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


def registering_a_document() -> dict[str, Any]:
    """Return a flow whose one action is the handler's."""
    action = {
        "id": "registrar",
        "type": "REGISTER_DOCUMENT",
        "documentType": "INE",
        "inputs": {"documentId": {"literal": "D-1"}},
        "resultKey": "registro",
    }
    transition = {
        "id": "registrar",
        "from": "ABIERTA",
        "event": "REGISTRAR",
        "to": "REGISTRADA",
        "allowedRoles": ["ANALISTA"],
        "actions": [action],
        "updates": [],
    }
    return {
        "schemaVersion": 1,
        "flowKey": "BLOQUEO",
        "version": 1,
        "initialState": "ABIERTA",
        "states": [{"key": "ABIERTA", "terminal": False}, {"key": "REGISTRADA", "terminal": True}],
        "events": [{"key": "REGISTRAR", "inputSchema": {"type": "object"}}],
        "transitions": [transition],
        "decisions": [],
        "tasks": [],
    }
