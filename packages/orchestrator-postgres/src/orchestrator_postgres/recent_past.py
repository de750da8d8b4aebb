"""What has happened to the latest requests of a flow, read on connections of the engine."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.identifiers import FlowKey, RequestId
from orchestrator_domain.ports.recent_past import RecentPast, RecentRequest
from orchestrator_domain.request.erasure import REPLAYED
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.engine import PostgresEngine, StoreConnection
from orchestrator_postgres.row_mapping import Row, readable, request_of
from orchestrator_postgres.run_rows import RunRows, read_run_rows
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import as_object

_LATEST = sql_file("recent_requests")
_RUNS = sql_file("recorded_runs")
_ONE_MOMENT: Final = b"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Whoever asks waits for seconds, and a flow may have more requests than can be walked in that time.
_PATIENCE: Final = b"SET LOCAL statement_timeout = '5s'"


@frozen
class PostgresRecentPast(RecentPast):
    """Read in short transactions that can't write."""

    _engine: PostgresEngine

    async def latest(
        self, flow_key: FlowKey, actor: Actor, *, since: datetime | None, revision_max: int, limit: int
    ) -> Sequence[RecentRequest]:
        values = {
            "flow_key": flow_key,
            "subject": actor.subject,
            "scopes": sorted(actor.scopes),
            "since": since,
            "revision_max": revision_max,
            "limit": limit,
        }

        async def read(_: int) -> Sequence[RecentRequest]:
            async with self._reading() as connection:
                rows = await (await connection.execute(_LATEST, values)).fetchall()
            return [RecentRequest(id=RequestId(row["id"]), revision=row["revision"]) for row in rows]

        return await retried(read)

    async def runs(self, request_ids: Sequence[RequestId], actor: Actor) -> Sequence[RecordedRuns]:
        values = {
            "ids": [*request_ids],
            "subject": actor.subject,
            "scopes": sorted(actor.scopes),
            "replayed": sorted(part.value for part in REPLAYED),
        }

        async def read(_: int) -> Sequence[RecordedRuns]:
            async with self._reading() as connection:
                rows = await (await connection.execute(_RUNS, values)).fetchall()
                read_runs = await read_run_rows(connection, [row["request_id"] for row in rows])
            return [_recorded(row, read_runs) for row in rows]

        return await retried(read)

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[StoreConnection]:
        async with self._engine.connection() as connection, connection.transaction():
            await connection.execute(_ONE_MOMENT)
            await connection.execute(_PATIENCE)
            yield connection


def _recorded(row: Row, runs: RunRows) -> RecordedRuns:
    with readable("request_instance"):
        return RecordedRuns(
            request=request_of(row),
            initial_data=as_object(row["initial_data"]),
            executions=runs.executions_of(row["request_id"]),
            checkpoints=runs.checkpoints_of(row["request_id"]),
            replayable=row["replayable"],
        )
