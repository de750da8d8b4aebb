"""Carry out the writes of several runs in one transaction, each under its own fence.

Nearly always nothing is in the way: every row is free, every fence holds, every request and checkpoint is as it was. So at
first all of it is sent at once, COMMIT included, by statements that fail unless it is so. If one does, nothing is kept,
and the batch begins again: lock, then look, then write, and look at the leases once more. What is busy, lost or moved is
told apart before anything is written. Whatever then comes out otherwise than was looked at makes the whole batch fail,
so that its writes can be tried alone, where the fault is nobody else's.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Any
from uuid import UUID

import psycopg
from attrs import frozen
from psycopg import AsyncCursor

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import Revision
from orchestrator_postgres.batch_statements import (
    COUNTED,
    WHOLE_OR_NOTHING,
    BatchRows,
    lease_lost,
    request_moved,
)
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fence import fence_values
from orchestrator_postgres.fenced_write import FencedWrite
from orchestrator_postgres.one_trip import OneTrip
from orchestrator_postgres.row_mapping import Row
from orchestrator_postgres.short_transaction import short_transaction
from orchestrator_postgres.statements import all_of, sql_file
from orchestrator_postgres.stored_json import ids_parameter, rows_parameter
from orchestrator_postgres.written_rows import fence_row

_READ_FENCES = sql_file("read_fences")


class Settled(Enum):
    """What became of a write that no error speaks of."""

    WRITTEN = "WRITTEN"
    BUSY = "BUSY"


type Answer = Settled | OrchestratorError


@frozen(kw_only=True)
class _Locks:
    requests: bytes
    executions: bytes


ALL_FREE = _Locks(
    requests=all_of("lock_free_requests", "request_ids"),
    executions=all_of("lock_free_executions", "execution_ids"),
)
_FREE_ONES = _Locks(requests=sql_file("lock_free_requests"), executions=sql_file("lock_free_executions"))
_WAITED_FOR = _Locks(requests=sql_file("lock_request"), executions=sql_file("lock_execution"))


@frozen(kw_only=True)
class _Found:
    """What was read once everything had been locked."""

    requests: frozenset[UUID]
    executions: frozenset[UUID]
    fences: Mapping[UUID, Row]

    def answer(self, write: FencedWrite) -> Answer:
        """Say what becomes of the write if nothing happens to its lease before the commit."""
        fence = write.fence
        if fence.execution_id not in self.executions or not (
            write.ending is None or fence.request_id in self.requests
        ):
            return Settled.BUSY
        row = self.fences.get(fence.execution_id)
        if row is None:
            return lease_lost()
        if write.rests_on_the_request and not row["as_accepted"]:
            return request_moved()
        return Settled.WRITTEN

    def revision(self, fence: Fence) -> Revision:
        return Revision(self.fences[fence.execution_id]["request_revision"])


async def carry_out_together(connection: StoreConnection, writes: Sequence[FencedWrite]) -> Sequence[Answer]:
    """Write what is free, with one answer each; the writes are of different executions.

    Raises LeaseLost, CheckpointMoved or a fault of the driver for the batch as a whole; then nothing of it is stored.
    """
    with suppress(psycopg.errors.InvalidTextRepresentation):
        await _carry_out_at_once(connection, writes)
        return [Settled.WRITTEN] * len(writes)
    return await _carry_out(connection, writes, _FREE_ONES)


async def carry_out_alone(connection: StoreConnection, write: FencedWrite) -> None:
    """Write one, after waiting for whoever holds its rows.

    Raises LeaseLost, RequestMoved or CheckpointMoved, and then nothing of it is stored.
    """
    (answer,) = await _carry_out(connection, [write], _WAITED_FOR)
    match answer:
        case Settled.WRITTEN:
            return
        case Settled.BUSY:
            # What was waited for and isn't there doesn't exist.
            raise lease_lost()
        case OrchestratorError():
            raise answer


async def _carry_out_at_once(connection: StoreConnection, writes: Sequence[FencedWrite]) -> None:
    """Write all and commit in one round trip; raise InvalidTextRepresentation if anything is in the way.

    Each statement sees what was committed before the locks were taken. A row that isn't free ends the transaction
    before anything could wait for it.
    """
    trip = OneTrip()
    request_ids, execution_ids = _locked_ids(writes)
    if request_ids:
        trip.add(ALL_FREE.requests, {"request_ids": ids_parameter(request_ids)})
    trip.add(ALL_FREE.executions, {"execution_ids": ids_parameter(execution_ids)})
    BatchRows.of(writes, _as_accepted).add_to(trip, WHOLE_OR_NOTHING)
    await trip.carry_out(connection)


def _as_accepted(_: Fence) -> None:
    return None


async def _carry_out(
    connection: StoreConnection, writes: Sequence[FencedWrite], locks: _Locks
) -> Sequence[Answer]:
    async with short_transaction(connection) as pipeline:
        found = await _locked_and_read(connection, writes, locks)
        answers = [found.answer(write) for write in writes]
        granted = [write for write, answer in zip(writes, answers, strict=True) if answer is Settled.WRITTEN]
        if granted:
            sent = await BatchRows.of(granted, found.revision).send(connection, COUNTED)
            await pipeline.sync()
            if fault := sent.fault():
                raise fault
    return answers


async def _locked_and_read(
    connection: StoreConnection, writes: Sequence[FencedWrite], locks: _Locks
) -> _Found:
    requests, executions = await _lock(connection, writes, locks)
    fences = await connection.execute(
        _READ_FENCES, rows_parameter([fence_row(write.fence) for write in writes])
    )
    return _Found(
        requests=await _ids(requests),
        executions=await _ids(executions),
        fences={row["id"]: row for row in await fences.fetchall()},
    )


async def _lock(
    connection: StoreConnection, writes: Sequence[FencedWrite], locks: _Locks
) -> tuple[AsyncCursor[Any] | None, AsyncCursor[Any]]:
    request_ids, execution_ids = _locked_ids(writes)
    values = {
        **fence_values(writes[0].fence),
        "request_ids": ids_parameter(request_ids),
        "execution_ids": ids_parameter(execution_ids),
    }
    return (
        await connection.execute(locks.requests, values) if request_ids else None,
        await connection.execute(locks.executions, values),
    )


def _locked_ids(writes: Sequence[FencedWrite]) -> tuple[Sequence[UUID], Sequence[UUID]]:
    """Return the requests of those that end, which are locked first, and the executions."""
    endings = [write for write in writes if write.ending is not None]
    return [write.fence.request_id for write in endings], [write.fence.execution_id for write in writes]


async def _ids(cursor: AsyncCursor[Any] | None) -> frozenset[UUID]:
    return frozenset() if cursor is None else frozenset(row["id"] for row in await cursor.fetchall())
