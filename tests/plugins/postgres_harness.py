"""The harness of the PostgreSQL implementation: its ports as the runtime role, and a superuser behind them."""

import asyncio
from collections.abc import Sequence
from typing import Self

from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.audit import AuditEntry
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.flow_store import AdminFact
from orchestrator_domain.testing.contracts.harness import StoreHarness, WakeupHarness
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.change_marks import PostgresChangeMarks
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine, StoreConnection, connect
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.history import read_history
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_postgres.recent_past import PostgresRecentPast
from orchestrator_postgres.row_mapping import Row, checkpoint_of
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_postgres.wakeup import PostgresWakeup

_DOCUMENT_SEED = 7
_PATIENCE_SECONDS = 60.0
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class PostgresHarness(StoreHarness):
    """One database, used by the runtime role; `superuser` is a connection that may do anything."""

    def __init__(self, database: TestDatabase) -> None:
        self.database = database
        self.settings = ConnectionSettings(url=database.runtime_url, application_name="orchestrator-test")
        self.engine = PostgresEngine(self.settings, connections_max=8, connections_min=0)
        self._queue = PostgresExecutionQueue(self.settings, SequentialIdentifiers(seed=_DOCUMENT_SEED))
        self._superuser: StoreConnection | None = None

    async def __aenter__(self) -> Self:
        await self.engine.open()
        self._superuser = await connect(ConnectionSettings(url=self.database.superuser_url))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._queue.close()
        await self.engine.close()
        await self.superuser.close()

    @property
    def superuser(self) -> StoreConnection:
        assert self._superuser is not None, "the harness has been entered"
        return self._superuser

    def unit_of_work(self) -> PostgresUnitOfWork:
        return PostgresUnitOfWork(self.engine)

    def queue(self) -> PostgresExecutionQueue:
        return self._queue

    def published_flows(self) -> PostgresPublishedFlows:
        return PostgresPublishedFlows(self.engine)

    def recent_past(self) -> PostgresRecentPast:
        return PostgresRecentPast(self.engine)

    def change_marks(self) -> PostgresChangeMarks:
        return PostgresChangeMarks(self.engine)

    async def expire_lease(self, execution_id: ExecutionId) -> None:
        await self._change(
            b"UPDATE orchestrator.execution SET lease_until = clock_timestamp() - interval '1 second'"
            b" WHERE id = %s",
            execution_id,
        )

    async def make_due(self, execution_id: ExecutionId) -> None:
        await self._change(
            b"UPDATE orchestrator.execution SET next_attempt_at = clock_timestamp() - interval '1 second'"
            b" WHERE id = %s",
            execution_id,
        )

    async def move_request(self, request_id: RequestId) -> None:
        await self._change(
            b"UPDATE orchestrator.request_instance SET revision = revision + 1 WHERE id = %s", request_id
        )

    async def lease_seconds_left(self, execution_id: ExecutionId) -> float:
        (row,) = await self.rows(
            b"SELECT extract(epoch FROM lease_until - clock_timestamp()) AS seconds"
            b" FROM orchestrator.execution WHERE id = %s",
            execution_id,
        )
        return float(row["seconds"])

    async def history(self, request_id: RequestId) -> Sequence[AuditEntry]:
        return await read_history(self.superuser, request_id)

    async def documents(self, request_id: RequestId) -> Sequence[DocumentLink]:
        rows = await self.rows(
            b"SELECT * FROM orchestrator.document_reference WHERE request_id = %s ORDER BY created_at, id",
            request_id,
        )
        return [
            DocumentLink(
                document_type=row["document_type"],
                storage_document_id=row["storage_document_id"],
                mime_type=row["mime_type"],
                size_bytes=row["size_bytes"],
                checksum=row["checksum"],
            )
            for row in rows
        ]

    async def checkpoints(self, execution_id: ExecutionId) -> Sequence[Checkpoint]:
        rows = await self.rows(
            b"SELECT *, extract(epoch FROM clock_timestamp() - started_at) AS age_seconds,"
            b" extract(epoch FROM clock_timestamp() - finished_at) AS ended_age_seconds"
            b' FROM orchestrator.action_execution WHERE execution_id = %s ORDER BY action_id COLLATE "C"',
            execution_id,
        )
        return [checkpoint_of(row) for row in rows]

    async def admin_facts(self) -> Sequence[AdminFact]:
        return [
            AdminFact(
                action=row["action"],
                actor=row["actor_subject"],
                flow_id=row["flow_id"],
                type_key=row["type_key"],
                correlation_id=row["correlation_id"],
                detail=row["detail"],
            )
            for row in await self.rows(b"SELECT * FROM orchestrator.admin_audit ORDER BY id")
        ]

    async def rows(self, statement: bytes, *parameters: object) -> Sequence[Row]:
        """Return what a statement of the superuser finds."""
        return await (await self.superuser.execute(statement, parameters)).fetchall()

    async def sessions_wait(self, count: int = 1) -> None:
        """Return as soon as so many sessions of this database wait for a lock."""
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while (await asyncio.to_thread(self.database.execute, _WAITING))[0][0] < count:
                pass

    async def _change(self, statement: bytes, *parameters: object) -> None:
        cursor = await self.superuser.execute(statement, parameters)
        assert cursor.rowcount == 1, "what is to change exists"


class PostgresWakeupHarness(WakeupHarness):
    """One process that hints and another one that waits, as two objects on connections of their own."""

    def __init__(self, database: TestDatabase) -> None:
        self.database = database
        settings = ConnectionSettings(url=database.runtime_url, application_name="orchestrator-wakeup")
        self._hinting = PostgresWakeup(settings, listens=False)
        self._waiting = PostgresWakeup(settings)

    async def __aenter__(self) -> Self:
        await self._hinting.start()
        await self._waiting.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._hinting.close()
        await self._waiting.close()

    def hinting(self) -> PostgresWakeup:
        return self._hinting

    def waiting(self) -> PostgresWakeup:
        return self._waiting

    async def break_connection(self) -> None:
        self.database.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'orchestrator-wakeup' AND datname = current_database()"
        )
