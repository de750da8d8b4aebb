"""A bare acceptance: it sends the statements that ours sends, coalesced and committed alike.

It locks, reads what an acceptance is decided from, stores the executions and moves the requests on with their history;
it decides nothing and refuses nobody.
"""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from attrs import define

from bench.durable_work import DurableWork
from bench.script_lane import ScriptLane
from bench.script_rows import ScriptRows
from orchestrator_domain.identifiers import RequestId
from orchestrator_postgres.engine import StoreConnection, connect
from orchestrator_postgres.history import ADVANCE
from orchestrator_postgres.statements import sql_file

_LOCK, _READ = sql_file("lock_free_visible_requests"), sql_file("read_visible_requests")
_READ_BY_KEY = sql_file("executions_by_key")
_ADD = sql_file("add_executions")


@define(kw_only=True, eq=False)
class AcceptanceScript:
    """Accept the event of each request, from so many clients at once."""

    work: DurableWork
    rows: ScriptRows
    clients: int

    async def accept(self, requests: Sequence[RequestId], flow: UUID) -> None:
        left = iter(requests)
        async with await connect(self.work.settings) as connection:
            self.rows.prepare(connection)
            lane = ScriptLane[RequestId](lambda batch: self._send(connection, batch, flow))

            async def client() -> None:
                for request_id in left:
                    await lane.bring(request_id)

            await asyncio.gather(*(client() for _ in range(self.clients)))

    async def _send(self, connection: StoreConnection, batch: Sequence[RequestId], flow: UUID) -> None:
        asked = {"rows": self.rows.text([self.rows.event(request_id) for request_id in batch])}
        async with connection.pipeline(), connection.transaction():
            locking = await connection.execute(_LOCK, asked)
            reading = await connection.execute(_READ, asked)
            reading_by_key = await connection.execute(_READ_BY_KEY, asked)
            await locking.fetchall()
            for visible in await reading.fetchall():
                self.rows.check_command(visible)
            await reading_by_key.fetchall()
            executions = [self.rows.execution(request_id) for request_id in batch]
            moves = [self.rows.accepted(execution, flow) for execution in executions]
            adding = await connection.execute(_ADD, {"rows": self.rows.text(executions)})
            moving = await connection.execute(ADVANCE, {"rows": self.rows.text(moves)})
        for execution in await adding.fetchall():
            self.rows.check_execution(execution)
        assert moving.rowcount == len(batch), "a script that moves no request measures nothing"
