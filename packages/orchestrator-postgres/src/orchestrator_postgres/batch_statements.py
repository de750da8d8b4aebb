"""The statements that write a batch, sent without waiting; afterwards they tell whether each row was written."""

from collections.abc import Callable, Sequence
from typing import Any, Final, Self

from attrs import fields, frozen
from psycopg import AsyncCursor

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, OrchestratorError, RequestMoved
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import Revision
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fenced_write import FencedWrite
from orchestrator_postgres.statements import sql_file, whole_or_nothing
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_rows import (
    checkpoint_row,
    document_row,
    ended_row,
    kept_row,
    move_row,
    success_row,
)

_LINK_DOCUMENTS = sql_file("link_documents")


@frozen(kw_only=True)
class BatchStatements:
    """What writes a batch, each for a set of rows."""

    add_checkpoints: bytes
    replace_checkpoints: bytes
    stored_successes: bytes
    advance_requests: bytes
    keep_executions: bytes
    end_executions: bytes

    @classmethod
    def made_by(cls, statement: Callable[[str], bytes]) -> Self:
        """Take each from the file of its name."""
        return cls(**{each.name: statement(each.name) for each in fields(cls)})


COUNTED: Final = BatchStatements.made_by(sql_file)
"""Those that tell which rows they wrote, and whose COMMIT has to wait for it."""

WHOLE_OR_NOTHING: Final = BatchStatements.made_by(whole_or_nothing)
"""Those that fail unless every row is written."""

type RevisionOf = Callable[[Fence], Revision | None]
"""Tell from which revision a request is to move on; None stands for the one that its event was accepted at."""


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


@frozen(kw_only=True)
class SentWrites:
    """What was sent; to be asked once the answers are there."""

    checkpoints: tuple[_Sent, _Sent]
    successes: _Sent
    moved: _Sent
    given_back: tuple[_Sent, _Sent]

    def fault(self) -> OrchestratorError | None:
        """Say why the batch must not be committed, or None."""
        # Whatever is missing, a lost lease explains it.
        if not all(sent.whole for sent in self.given_back):
            return lease_lost()
        if not self.moved.whole:
            return request_moved()
        if not all(sent.whole for sent in self.checkpoints):
            return CheckpointMoved("The checkpoint has moved since this write was computed.")
        if not self.successes.whole:
            return CheckpointMoved("A checkpoint that the transition rests on isn't stored as it expects.")
        return None


@frozen(kw_only=True)
class BatchSender:
    """Send writes on a connection that is in a pipeline."""

    connection: StoreConnection
    statements: BatchStatements
    revision_of: RevisionOf

    async def send(self, writes: Sequence[FencedWrite]) -> SentWrites:
        """Send every statement, those that look at the leases last."""
        return SentWrites(
            checkpoints=await self._checkpoints(writes),
            successes=await self._successes(writes),
            moved=await self._moves(writes),
            given_back=await self._give_back(writes),
        )

    async def _checkpoints(self, writes: Sequence[FencedWrite]) -> tuple[_Sent, _Sent]:
        each = [(write.fence, checkpoint) for write in writes for checkpoint in write.checkpoints]
        added = [checkpoint_row(fence, one) for fence, one in each if one.before is None]
        replaced = [checkpoint_row(fence, one) for fence, one in each if one.before is not None]
        return (
            await self._send(self.statements.add_checkpoints, added),
            await self._send(self.statements.replace_checkpoints, replaced),
        )

    async def _successes(self, writes: Sequence[FencedWrite]) -> _Sent:
        expected = [
            success_row(write.fence, checkpoint)
            for write in writes
            if write.ending is not None and write.ending.transitioned is not None
            for checkpoint in write.ending.transitioned.succeeded
        ]
        return await self._send(self.statements.stored_successes, expected)

    async def _moves(self, writes: Sequence[FencedWrite]) -> _Sent:
        endings = [(write.fence, write.ending) for write in writes if write.ending is not None]
        moves = [move_row(fence, ending, from_revision=self.revision_of(fence)) for fence, ending in endings]
        moved = await self._send(self.statements.advance_requests, moves)
        documents = [
            document_row(fence, document)
            for fence, ending in endings
            if ending.transitioned is not None
            for document in ending.transitioned.documents
        ]
        # A document that is linked already is no fault, so these are not counted.
        await self._send(_LINK_DOCUMENTS, documents)
        return moved

    async def _give_back(self, writes: Sequence[FencedWrite]) -> tuple[_Sent, _Sent]:
        kept = [kept_row(write) for write in writes if write.ending is None]
        ended = [ended_row(write, write.ending) for write in writes if write.ending is not None]
        return (
            await self._send(self.statements.keep_executions, kept),
            await self._send(self.statements.end_executions, ended),
        )

    async def _send(self, statement: bytes, rows: Sequence[JsonObject]) -> _Sent:
        cursor = await self.connection.execute(statement, rows_parameter(rows)) if rows else None
        return _Sent(cursor=cursor, rows=len(rows))


def lease_lost() -> LeaseLost:
    return LeaseLost("The lease of this execution is lost; nothing was written.")


def request_moved() -> RequestMoved:
    return RequestMoved("The request isn't as it was when the event was accepted; nothing was written.")
