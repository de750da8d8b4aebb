"""What a run wants written, as one value, and the one way to write it.

Being a value, a write can be carried out alone, again, or later together with those of other runs.
"""

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from psycopg import AsyncCursor

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.errors import CheckpointMoved, LeaseLost, RequestMoved
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.completion import DocumentLink
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.identifiers import DocumentReferenceId, Revision, StateKey
from orchestrator_domain.ports.execution_queue import CheckpointWrite
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fence import fence_values
from orchestrator_postgres.history import RequestMove, send_advance
from orchestrator_postgres.row_mapping import Row
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import jsonb_or_null

_LOCK_REQUEST = sql_file("lock_request")
_LOCK_EXECUTION = sql_file("lock_execution")
_READ_FENCE = sql_file("read_fence")
_ADD_CHECKPOINT = sql_file("add_checkpoint")
_REPLACE_CHECKPOINT = sql_file("replace_checkpoint")
_COUNT_SUCCEEDED = sql_file("count_succeeded")
_LINK_DOCUMENT = sql_file("link_document")
_KEEP_EXECUTION = sql_file("keep_execution")
_END_EXECUTION = sql_file("end_execution")
_READ_OUTCOME = sql_file("read_outcome")
_READ_CHECKPOINTS = sql_file("read_checkpoints")

_FINISHED = frozenset({CheckpointStatus.SUCCEEDED, CheckpointStatus.FAILED, CheckpointStatus.UNKNOWN})


@frozen(kw_only=True)
class LinkedDocument:
    """A document with the id that its row gets, the same however often the write is tried."""

    id: DocumentReferenceId
    link: DocumentLink


@frozen(kw_only=True)
class Transitioned:
    """What a completion makes of the request, and the successes that it rests on."""

    state: StateKey
    data: JsonObject
    documents: tuple[LinkedDocument, ...]
    succeeded: tuple[Checkpoint, ...]


@frozen(kw_only=True)
class Ending:
    """How the execution is given back; `delay_seconds` only for a retry."""

    status: ExecutionStatus
    fact: AuditFact
    error_code: str | None = None
    result: JsonObject | None = None
    delay_seconds: float | None = None
    transitioned: Transitioned | None = None

    @property
    def revision_step(self) -> int:
        """Bump the revision when readers of the request see a change: a transition, or its release."""
        return 0 if self.status.active else 1


@frozen(kw_only=True)
class FencedWrite:
    """Checkpoints, and the ending if there is one, under one fence: all of it or nothing."""

    fence: Fence
    checkpoints: tuple[CheckpointWrite, ...]
    ending: Ending | None = None


async def carry_out(connection: StoreConnection, write: FencedWrite) -> None:
    """Write it in one transaction: lock, then look, then write, and look at the lease once more.

    Raises LeaseLost, RequestMoved or CheckpointMoved, and then nothing of it is stored.
    """
    async with connection.pipeline(), connection.transaction():
        held = await _held(connection, write)
        answers = [await _write_checkpoint(connection, write.fence, each) for each in write.checkpoints]
        successes = await _count_succeeded(connection, write)
        if write.ending is not None:
            await _move_request(connection, write.ending, write.fence, held)
        last = await _give_back(connection, write)
        # Whatever is missing, a lost lease explains it.
        if await last.fetchone() is None:
            raise _lease_lost()
        for answer in answers:
            if await answer.fetchone() is None:
                raise CheckpointMoved("The checkpoint has moved since this write was computed.")
        await _require_succeeded(successes, write)


async def was_carried_out(connection: StoreConnection, write: FencedWrite) -> bool:
    """Tell whether an earlier try, whose COMMIT got no answer, has written it after all."""
    async with connection.transaction():
        values = {"execution_id": write.fence.execution_id, "ids": [write.fence.execution_id]}
        # This waits for the earlier try if the server is still busy with it; what it left is read in new statements.
        execution = await (await connection.execute(_READ_OUTCOME, values)).fetchone()
        if execution is None or execution["fencing_token"] != write.fence.token:
            return False
        expected = ExecutionStatus.RUNNING if write.ending is None else write.ending.status
        if execution["status"] != expected.value:
            return False
        if write.ending is not None:
            return True
        rows = await (await connection.execute(_READ_CHECKPOINTS, values)).fetchall()
    stored = {row["action_id"]: row for row in rows}
    return bool(write.checkpoints) and all(
        _is_stored(stored.get(each.after.action), each.after) for each in write.checkpoints
    )


def _lease_lost() -> LeaseLost:
    return LeaseLost("The lease of this execution is lost; nothing was written.")


async def _held(connection: StoreConnection, write: FencedWrite) -> Row:
    values = fence_values(write.fence)
    if write.ending is not None:
        await connection.execute(_LOCK_REQUEST, values)
    await connection.execute(_LOCK_EXECUTION, values)
    row = await (await connection.execute(_READ_FENCE, values)).fetchone()
    if row is None:
        raise _lease_lost()
    if _rests_on_the_request(write.ending) and not row["as_accepted"]:
        raise RequestMoved("The request isn't as it was when the event was accepted; nothing was written.")
    return row


def _rests_on_the_request(ending: Ending | None) -> bool:
    """Tell what goes on as accepted from the two endings that also serve an execution whose request moved."""
    return ending is None or ending.status in (ExecutionStatus.RETRY_WAIT, ExecutionStatus.SUCCEEDED)


async def _write_checkpoint(
    connection: StoreConnection, fence: Fence, write: CheckpointWrite
) -> AsyncCursor[Any]:
    values = {**fence_values(fence), **_checkpoint_values(write.after)}
    if write.before is None:
        return await connection.execute(_ADD_CHECKPOINT, {**values, "id": write.id})
    status, attempts = write.before
    before = {"before_status": status.value, "before_attempts": attempts}
    return await connection.execute(_REPLACE_CHECKPOINT, {**values, **before})


def _checkpoint_values(checkpoint: Checkpoint) -> dict[str, object]:
    return {
        "action": checkpoint.action,
        "status": checkpoint.status.value,
        "attempts": checkpoint.attempts,
        "external_key": checkpoint.external_key,
        "input_hash": checkpoint.input_hash,
        "effect": checkpoint.effect.value,
        "uncertain": checkpoint.uncertain,
        "result": jsonb_or_null(checkpoint.result),
        "provider_reference": checkpoint.provider_reference,
        "error_code": checkpoint.error_code,
        "finished": checkpoint.status in _FINISHED,
    }


async def _count_succeeded(connection: StoreConnection, write: FencedWrite) -> AsyncCursor[Any] | None:
    expected = _expected_successes(write)
    if not expected:
        return None
    values = {
        "execution_id": write.fence.execution_id,
        "actions": [checkpoint.action for checkpoint in expected],
        "external_keys": [checkpoint.external_key for checkpoint in expected],
        "input_hashes": [checkpoint.input_hash for checkpoint in expected],
        "effects": [checkpoint.effect.value for checkpoint in expected],
    }
    return await connection.execute(_COUNT_SUCCEEDED, values)


async def _require_succeeded(counted: AsyncCursor[Any] | None, write: FencedWrite) -> None:
    if counted is None:
        return
    row = await counted.fetchone()
    if row is None or row["found"] != len(_expected_successes(write)):
        raise CheckpointMoved("A checkpoint that the transition rests on isn't stored as it expects.")


def _expected_successes(write: FencedWrite) -> Sequence[Checkpoint]:
    if write.ending is None or write.ending.transitioned is None:
        return ()
    return write.ending.transitioned.succeeded


async def _move_request(connection: StoreConnection, ending: Ending, fence: Fence, held: Row) -> None:
    transitioned = ending.transitioned
    move = RequestMove(
        from_revision=Revision(held["request_revision"]),
        revision_step=ending.revision_step,
        to_state=None if transitioned is None else transitioned.state,
        data=None if transitioned is None else transitioned.data,
    )
    await send_advance(connection, fence.request_id, ending.fact, move)
    for document in () if transitioned is None else transitioned.documents:
        await _link_document(connection, document, fence, held)


async def _link_document(
    connection: StoreConnection, document: LinkedDocument, fence: Fence, held: Row
) -> None:
    link = document.link
    await connection.execute(
        _LINK_DOCUMENT,
        {
            "id": document.id,
            "request_id": fence.request_id,
            "document_type": link.document_type,
            "storage_document_id": link.storage_document_id,
            "mime_type": link.mime_type,
            "size_bytes": link.size_bytes,
            "checksum": link.checksum,
            "created_by": held["actor_subject"],
        },
    )


async def _give_back(connection: StoreConnection, write: FencedWrite) -> AsyncCursor[Any]:
    values = {**fence_values(write.fence), "progressed": bool(write.checkpoints)}
    if write.ending is None:
        return await connection.execute(_KEEP_EXECUTION, values)
    ending = {
        "status": write.ending.status.value,
        "result": jsonb_or_null(write.ending.result),
        "error_code": write.ending.error_code,
        "delay_seconds": write.ending.delay_seconds,
    }
    return await connection.execute(_END_EXECUTION, {**values, **ending})


def _is_stored(row: Row | None, after: Checkpoint) -> bool:
    return row is not None and (row["status"], row["attempt_count"], row["input_hash"]) == (
        after.status.value,
        after.attempts,
        after.input_hash,
    )
