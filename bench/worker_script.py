"""A bare worker: it sends the statements that ours sends, coalesced and committed alike, and trusts every answer.

As ours, it claims when half of its slots are free, commits the claim by itself, commits the start of an action before
calling it, and lets its end share a commit with the next start or with the completion. What it leaves out is all that
makes a worker of it: it looks at no fence, settles no fault, renews nothing and polls for nothing.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, evolve, field, frozen

from bench.durable_work import DurableWork
from bench.script_lane import ScriptLane
from bench.script_rows import Row, ScriptRows
from orchestrator_postgres.batch_statements import WHOLE_OR_NOTHING
from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.engine import StoreConnection, connect
from orchestrator_postgres.short_transaction import short_transaction
from orchestrator_postgres.statements import all_of, sql_file
from orchestrator_postgres.stored_json import id_text, ids_parameter

_OWNER = "script"
_MARK, _READ = sql_file("claim_mark"), sql_file("claim_read")
_READ_CHECKPOINTS = sql_file("read_checkpoints")
_LOCK_REQUESTS = all_of("lock_free_requests", "request_ids")
_LOCK_EXECUTIONS = all_of("lock_free_executions", "execution_ids")
_STATEMENTS = WHOLE_OR_NOTHING


@frozen(kw_only=True)
class _Write:
    """What one run wants written: the rows of each statement."""

    fence: Row
    added: Row | None = None
    replaced: Row | None = None
    successes: Sequence[Row] = ()
    moved: Row | None = None
    ended: Row | None = None


@define(kw_only=True, eq=False)
class WorkerScript:
    """Carry out accepted executions of the flow with so many actions."""

    work: DurableWork
    rows: ScriptRows
    actions: int
    slots: int
    _free: int = field(init=False)
    _freed: asyncio.Event = field(factory=asyncio.Event, init=False)
    _horizon: ClaimHorizon = field(factory=ClaimHorizon, init=False)

    async def drain(self) -> None:
        """Work until nothing is due."""
        self._free = self.slots
        settings = evolve(self.work.settings, looks_rows_up=True)
        async with await connect(settings) as claiming, await connect(settings) as writing:
            for connection in (claiming, writing):
                self.rows.prepare(connection)
            lane = ScriptLane[_Write](lambda writes: self._send(writing, writes))
            async with asyncio.TaskGroup() as runs:
                while claimed := await self._claimed(claiming):
                    for row in claimed:
                        runs.create_task(self._run(lane, row))

    async def _claimed(self, connection: StoreConnection) -> Sequence[Mapping[str, Any]]:
        while self._free < (self.slots + 1) // 2:
            self._freed.clear()
            await self._freed.wait()
        values = {"owner": _OWNER, "claims_max": self._free, "lease_seconds": 60, **self._horizon.bounds()}
        async with connection.pipeline():
            marked = await (await connection.execute(_MARK, values)).fetchall()
            ids = {"ids": ids_parameter(row["id"] for row in marked)}
            read = await connection.execute(_READ, ids)
            checkpoints = await connection.execute(_READ_CHECKPOINTS, ids)
        self._horizon.learn(marked, limit=self._free)
        await checkpoints.fetchall()
        self._free -= len(marked)
        return await read.fetchall()

    async def _run(self, lane: ScriptLane[_Write], claimed: Mapping[str, Any]) -> None:
        fence = {
            "execution_id": id_text(claimed["id"]),
            "request_id": id_text(claimed["request_id"]),
            "owner": _OWNER,
            "token": claimed["fencing_token"],
        }
        succeeded: list[Row] = []
        for number in range(self.actions):
            started = self.rows.started(claimed, fence, number)
            before = succeeded[-1] if succeeded else None
            await lane.bring(_Write(fence=fence, added=started, replaced=before))
            succeeded.append(self.rows.succeeded(started, await _no_op()))
        await lane.bring(self._completion(claimed, fence, succeeded))
        self._free += 1
        self._freed.set()

    def _completion(self, claimed: Mapping[str, Any], fence: Row, succeeded: Sequence[Row]) -> _Write:
        return _Write(
            fence=fence,
            replaced=succeeded[-1],
            successes=succeeded,
            moved=self.rows.completed(claimed, self.actions),
            ended=self.rows.ended(fence),
        )

    async def _send(self, connection: StoreConnection, writes: Sequence[_Write]) -> None:
        endings = [write for write in writes if write.ended is not None]
        requests = {"request_ids": _array(write.fence["request_id"] for write in endings)}
        executions = {"execution_ids": _array(write.fence["execution_id"] for write in writes)}
        kept = [{**write.fence, "progressed": True} for write in writes if write.ended is None]
        async with short_transaction(connection):
            if endings:
                await connection.execute(_LOCK_REQUESTS, requests)
            await connection.execute(_LOCK_EXECUTIONS, executions)
            added = [write.added for write in writes if write.added]
            replaced = [write.replaced for write in writes if write.replaced]
            successes = [row for write in endings for row in write.successes]
            await self._execute(connection, _STATEMENTS.add_checkpoints, added)
            await self._execute(connection, _STATEMENTS.replace_checkpoints, replaced)
            await self._execute(connection, _STATEMENTS.stored_successes, successes)
            moved = [write.moved for write in endings if write.moved]
            await self._execute(connection, _STATEMENTS.advance_requests, moved)
            await self._execute(connection, _STATEMENTS.keep_executions, kept)
            ended = [write.ended for write in endings if write.ended]
            await self._execute(connection, _STATEMENTS.end_executions, ended)

    async def _execute(self, connection: StoreConnection, statement: bytes, rows: Sequence[Row]) -> None:
        if rows:
            await connection.execute(statement, {"rows": self.rows.text(rows)})


def _array(ids: Iterable[str]) -> str:
    return "{" + ",".join(ids) + "}"


async def _no_op() -> dict[str, Any]:
    return {"found": True}
