"""Carry out the writes of several runs in one transaction, each under its own fence.

Lock, then look, then write, and look at the leases once more. What is busy, lost or moved is told apart before
anything is written. Whatever comes out otherwise than was looked at makes the whole batch fail, so that its writes can
be tried alone, where the fault is nobody else's.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any
from uuid import UUID

from attrs import frozen
from psycopg import AsyncCursor, AsyncPipeline

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, OrchestratorError, RequestMoved
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import Revision, Subject
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fence import fence_values
from orchestrator_postgres.fenced_write import FencedWrite
from orchestrator_postgres.history import ADVANCE
from orchestrator_postgres.row_mapping import Row
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_rows import (
    checkpoint_row,
    document_row,
    ended_row,
    fence_row,
    kept_row,
    move_row,
    success_row,
)

_READ_FENCES = sql_file("read_fences")
_ADD_CHECKPOINTS = sql_file("add_checkpoints")
_REPLACE_CHECKPOINTS = sql_file("replace_checkpoints")
_MISSING_SUCCESSES = sql_file("missing_successes")
_LINK_DOCUMENTS = sql_file("link_documents")
_KEEP_EXECUTIONS = sql_file("keep_executions")
_END_EXECUTIONS = sql_file("end_executions")


class Settled(Enum):
    """What became of a write that no error speaks of."""

    WRITTEN = "WRITTEN"
    BUSY = "BUSY"


type Answer = Settled | OrchestratorError


@frozen(kw_only=True)
class _Locks:
    requests: bytes
    executions: bytes


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
            return _lease_lost()
        if write.rests_on_the_request and not row["as_accepted"]:
            return _request_moved()
        return Settled.WRITTEN

    def revision(self, fence: Fence) -> Revision:
        return Revision(self.fences[fence.execution_id]["request_revision"])

    def actor(self, fence: Fence) -> Subject:
        return Subject(self.fences[fence.execution_id]["actor_subject"])


async def carry_out_together(connection: StoreConnection, writes: Sequence[FencedWrite]) -> Sequence[Answer]:
    """Write what is free, with one answer each; the writes are of different executions.

    Raises LeaseLost, CheckpointMoved or a fault of the driver for the batch as a whole; then nothing of it is stored.
    """
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
            raise _lease_lost()
        case OrchestratorError():
            raise answer


async def _carry_out(
    connection: StoreConnection, writes: Sequence[FencedWrite], locks: _Locks
) -> Sequence[Answer]:
    async with connection.pipeline() as pipeline, connection.transaction():
        found = await _locked_and_read(connection, writes, locks)
        answers = [found.answer(write) for write in writes]
        granted = [write for write, answer in zip(writes, answers, strict=True) if answer is Settled.WRITTEN]
        if granted:
            await _write(connection, pipeline, granted, found)
    return answers


async def _locked_and_read(
    connection: StoreConnection, writes: Sequence[FencedWrite], locks: _Locks
) -> _Found:
    endings = [write for write in writes if write.ending is not None]
    values = {
        **fence_values(writes[0].fence),
        "request_ids": [write.fence.request_id for write in endings],
        "execution_ids": [write.fence.execution_id for write in writes],
    }
    requests = await connection.execute(locks.requests, values) if endings else None
    executions = await connection.execute(locks.executions, values)
    fences = await _execute(connection, _READ_FENCES, [fence_row(write.fence) for write in writes])
    return _Found(
        requests=await _ids(requests),
        executions=await _ids(executions),
        fences={row["id"]: row for row in await fences.fetchall()},
    )


async def _ids(cursor: AsyncCursor[Any] | None) -> frozenset[UUID]:
    return frozenset() if cursor is None else frozenset(row["id"] for row in await cursor.fetchall())


async def _write(
    connection: StoreConnection, pipeline: AsyncPipeline, writes: Sequence[FencedWrite], found: _Found
) -> None:
    """Send every statement at once, those that look at the leases last; then see whether each row was written."""
    checkpoints = await _write_checkpoints(connection, writes)
    missing = await _look_for_successes(connection, writes)
    moved = await _move_requests(connection, writes, found)
    given_back = await _give_back(connection, writes)
    await pipeline.sync()
    # Whatever is missing, a lost lease explains it.
    if not all(sent.whole for sent in given_back):
        raise _lease_lost()
    if not moved.whole:
        raise _request_moved()
    if not all(sent.whole for sent in checkpoints):
        raise CheckpointMoved("The checkpoint has moved since this write was computed.")
    if missing.count:
        raise CheckpointMoved("A checkpoint that the transition rests on isn't stored as it expects.")


@frozen(kw_only=True)
class _Sent:
    """A statement on its way, and how many rows it was given."""

    cursor: AsyncCursor[Any] | None
    rows: int

    @property
    def count(self) -> int:
        return 0 if self.cursor is None else self.cursor.rowcount

    @property
    def whole(self) -> bool:
        return self.count == self.rows


async def _send(connection: StoreConnection, statement: bytes, rows: Sequence[JsonObject]) -> _Sent:
    cursor = await _execute(connection, statement, rows) if rows else None
    return _Sent(cursor=cursor, rows=len(rows))


async def _execute(
    connection: StoreConnection, statement: bytes, rows: Sequence[JsonObject]
) -> AsyncCursor[Any]:
    return await connection.execute(statement, rows_parameter(rows))


async def _write_checkpoints(
    connection: StoreConnection, writes: Sequence[FencedWrite]
) -> tuple[_Sent, _Sent]:
    each = [(write.fence, checkpoint) for write in writes for checkpoint in write.checkpoints]
    added = [checkpoint_row(fence, one) for fence, one in each if one.before is None]
    replaced = [checkpoint_row(fence, one) for fence, one in each if one.before is not None]
    return (
        await _send(connection, _ADD_CHECKPOINTS, added),
        await _send(connection, _REPLACE_CHECKPOINTS, replaced),
    )


async def _look_for_successes(connection: StoreConnection, writes: Sequence[FencedWrite]) -> _Sent:
    expected = [
        success_row(write.fence, checkpoint)
        for write in writes
        if write.ending is not None and write.ending.transitioned is not None
        for checkpoint in write.ending.transitioned.succeeded
    ]
    return await _send(connection, _MISSING_SUCCESSES, expected)


async def _move_requests(connection: StoreConnection, writes: Sequence[FencedWrite], found: _Found) -> _Sent:
    endings = [(write.fence, write.ending) for write in writes if write.ending is not None]
    moves = [move_row(fence, ending, from_revision=found.revision(fence)) for fence, ending in endings]
    moved = await _send(connection, ADVANCE, moves)
    documents = [
        document_row(fence, document, created_by=found.actor(fence))
        for fence, ending in endings
        if ending.transitioned is not None
        for document in ending.transitioned.documents
    ]
    # A document that is linked already is no fault, so these are not counted.
    await _send(connection, _LINK_DOCUMENTS, documents)
    return moved


async def _give_back(connection: StoreConnection, writes: Sequence[FencedWrite]) -> tuple[_Sent, _Sent]:
    kept = [kept_row(write) for write in writes if write.ending is None]
    ended = [ended_row(write, write.ending) for write in writes if write.ending is not None]
    return (
        await _send(connection, _KEEP_EXECUTIONS, kept),
        await _send(connection, _END_EXECUTIONS, ended),
    )


def _lease_lost() -> LeaseLost:
    return LeaseLost("The lease of this execution is lost; nothing was written.")


def _request_moved() -> RequestMoved:
    return RequestMoved("The request isn't as it was when the event was accepted; nothing was written.")
