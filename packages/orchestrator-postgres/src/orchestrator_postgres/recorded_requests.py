"""Everything that the store keeps of requests, read in one snapshot by whoever checks or replays it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final
from uuid import UUID

import psycopg
from attrs import frozen

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import ExecutionId, FlowId, FlowKey, RequestId
from orchestrator_domain.request.erasure import REPLAYED, parts_erased
from orchestrator_domain.simulation.recorded import RecordedRequest
from orchestrator_postgres.engine import ConnectionSettings, StoreConnection, connect
from orchestrator_postgres.reachability import connection_fault
from orchestrator_postgres.row_mapping import Row, audit_entry_of, flow_of, readable, request_of
from orchestrator_postgres.run_rows import RunRows, read_run_rows, rows_by
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import as_object

_AT_ONCE: Final = 200
_REQUESTS = sql_file("recorded_requests")
_COUNT = sql_file("count_recorded_requests")
_ENTRIES = sql_file("core/read_histories")
_TIMING: Final = b"""
SELECT
  extract(epoch FROM next_attempt_at - clock_timestamp())::float8 AS due_in_seconds,
  extract(epoch FROM lease_until - clock_timestamp())::float8 AS lease_seconds,
  claims_without_progress
FROM orchestrator.execution
WHERE id = %(id)s
"""
_FLOW = sql_file("core/find_flow")


@frozen(kw_only=True)
class Timing:
    """In how many seconds an execution is due, and for how many its lease holds; negative once that is past.

    `claims_without_progress` says how often it was claimed since it last stored something.
    """

    due_in_seconds: float
    lease_seconds: float | None
    claims_without_progress: int


@frozen(kw_only=True)
class RecordedPast:
    """Read requests with their past, and the flows that they are pinned to, all as of one moment.

    The transaction is read-only, so that nothing can be changed through it.
    """

    _connection: StoreConnection

    async def requests(
        self, *, since: datetime | None = None, flow_key: FlowKey | None = None
    ) -> AsyncIterator[RecordedRequest]:
        """Yield each request in the order of ids; `since` leaves out those that haven't changed since then."""
        after: UUID | None = None
        while True:
            values = {
                "after": after,
                "since": since,
                "flow_key": flow_key,
                "limit": _AT_ONCE,
                "request_id": None,
            }
            rows = await (await self._connection.execute(_REQUESTS, values)).fetchall()
            for recorded in await self._recorded(rows):
                yield recorded
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1]["request_id"]

    async def request(self, request_id: RequestId) -> RecordedRequest | None:
        values = {"after": None, "since": None, "flow_key": None, "limit": 1, "request_id": request_id}
        rows = await (await self._connection.execute(_REQUESTS, values)).fetchall()
        recorded = await self._recorded(rows)
        return recorded[0] if recorded else None

    async def timing(self, execution_id: ExecutionId) -> Timing:
        """Return how an execution stands to its times, by the store's clock."""
        row = await (await self._connection.execute(_TIMING, {"id": execution_id})).fetchone()
        assert row is not None, "the snapshot holds the execution that was read from it"
        return Timing(**row)

    async def count(self, *, since: datetime | None = None, flow_key: FlowKey | None = None) -> int:
        """Return how many requests there are to be yielded."""
        values = {"since": since, "flow_key": flow_key}
        row = await (await self._connection.execute(_COUNT, values)).fetchone()
        return 0 if row is None else int(row["requests"])

    async def flow(self, flow_id: FlowId) -> StoredFlow | None:
        row = await (await self._connection.execute(_FLOW, {"id": flow_id})).fetchone()
        return None if row is None else flow_of(row)

    async def _recorded(self, rows: Sequence[Row]) -> Sequence[RecordedRequest]:
        ids = [row["request_id"] for row in rows]
        entries = await rows_by(self._connection, _ENTRIES, ids, "request_id")
        runs = await read_run_rows(self._connection, ids)
        return [_recorded(row, runs, entries.get(row["request_id"], ())) for row in rows]


@asynccontextmanager
async def recorded_past(settings: ConnectionSettings) -> AsyncIterator[RecordedPast]:
    """Open the past of a database; raise DatabaseUnreachable, or StorageUnavailable when it can't be read."""
    try:
        async with await _connected(settings) as connection:
            await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
            await connection.set_read_only(True)
            async with connection.transaction():
                yield RecordedPast(connection=connection)
    except psycopg.Error as fault:
        state = fault.sqlstate or type(fault).__name__
        raise StorageUnavailable(
            f"The database can't be read with this URL ({state}): check its name, its schema and the role's privileges."
        ) from None


async def _connected(settings: ConnectionSettings) -> StoreConnection:
    try:
        return await connect(settings)
    except (psycopg.Error, OSError) as fault:
        # Only here: an OSError that comes later is of whoever writes down what was read.
        raise StorageUnavailable(await connection_fault(settings, fault)) from None


def _recorded(row: Row, runs: RunRows, entries: Sequence[Row]) -> RecordedRequest:
    history = tuple(map(audit_entry_of, entries))
    with readable("request_instance"):
        return RecordedRequest(
            request=request_of(row),
            initial_data=as_object(row["initial_data"]),
            head=row["audit_head"],
            executions=runs.executions_of(row["request_id"]),
            checkpoints=runs.checkpoints_of(row["request_id"]),
            entries=history,
            replayable=not parts_erased(history) & REPLAYED,
        )
