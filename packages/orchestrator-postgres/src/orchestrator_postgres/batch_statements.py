"""The statements that write a batch, sent without waiting; afterwards they tell whether each row was written."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self

from attrs import fields, frozen
from psycopg import AsyncCursor

from orchestrator_domain.errors import CheckpointMoved, LeaseLost, OrchestratorError, RequestMoved
from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import Revision
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fenced_write import FencedWrite
from orchestrator_postgres.one_trip import OneTrip
from orchestrator_postgres.statements import sql_file, whole_or_nothing
from orchestrator_postgres.stored_json import rows_parameter
from orchestrator_postgres.written_rows import (
    added_row,
    document_row,
    ended_row,
    fence_members,
    kept_row,
    move_row,
    replaced_row,
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
    def whole(self) -> bool:
        return self.cursor is None or self.cursor.rowcount == self.rows


@frozen(kw_only=True)
class SentWrites:
    """What was sent; to be asked once the answers are there."""

    checkpoints: tuple[_Sent, _Sent]
    successes: _Sent
    moved: _Sent
    given_back: tuple[_Sent, _Sent]

    def fault(self) -> OrchestratorError | None:
        """Say why the batch must not be committed, or None."""
        # Whatever else is missing, a lost lease explains it. One that is told so although only its request has moved
        # since it was looked at is claimed again when its lease has run out, and the move is found then.
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
class _Rows:
    """The parameter of one statement, written out; None if there is nothing to be done by it."""

    parameter: Mapping[str, str] | None
    count: int

    @classmethod
    def of(cls, rows: Sequence[str]) -> Self:
        return cls(parameter=rows_parameter(rows) if rows else None, count=len(rows))

    async def send(self, connection: StoreConnection, statement: bytes) -> _Sent:
        cursor = None if self.parameter is None else await connection.execute(statement, self.parameter)
        return _Sent(cursor=cursor, rows=self.count)

    def add_to(self, trip: OneTrip, statement: bytes) -> None:
        if self.parameter is not None:
            trip.add(statement, self.parameter)


@frozen(kw_only=True)
class BatchRows:
    """The rows of each statement, made before anything is locked wherever that can be."""

    added: _Rows
    replaced: _Rows
    successes: _Rows
    moves: _Rows
    documents: _Rows
    kept: _Rows
    ended: _Rows

    @classmethod
    def of(cls, writes: Sequence[FencedWrite], revision_of: RevisionOf) -> Self:
        """Write out what is to be written. Raises InexactJson for what can't be stored."""
        fenced = [(fence_members(write.fence), write) for write in writes]
        checkpoints = [(fence, one, one.before) for fence, write in fenced for one in write.checkpoints]
        ended = [(fence, write, write.ending) for fence, write in fenced if write.ending is not None]
        endings = [(write.fence, ending) for _, write, ending in ended]
        transitions = [(fence, ending.transitioned) for fence, ending in endings if ending.transitioned]
        return cls(
            added=_Rows.of([added_row(fence, one) for fence, one, before in checkpoints if before is None]),
            replaced=_Rows.of(
                [replaced_row(fence, one, before) for fence, one, before in checkpoints if before]
            ),
            successes=_Rows.of(
                [success_row(fence, one) for fence, to in transitions for one in to.succeeded]
            ),
            moves=_Rows.of(
                [move_row(fence, ending, from_revision=revision_of(fence)) for fence, ending in endings]
            ),
            documents=_Rows.of(
                [document_row(fence, one) for fence, to in transitions for one in to.documents]
            ),
            kept=_Rows.of([kept_row(fence, write) for fence, write in fenced if write.ending is None]),
            ended=_Rows.of([ended_row(fence, write, ending) for fence, write, ending in ended]),
        )

    def add_to(self, trip: OneTrip, statements: BatchStatements) -> None:
        """Have every statement sent with what else is in the trip."""
        for rows, statement in self._in_order(statements):
            rows.add_to(trip, statement)

    async def send(self, connection: StoreConnection, statements: BatchStatements) -> SentWrites:
        """Send every statement, on a connection that is in a pipeline."""
        added, replaced, successes, moved, _, kept, ended = [
            await rows.send(connection, statement) for rows, statement in self._in_order(statements)
        ]
        return SentWrites(
            checkpoints=(added, replaced), successes=successes, moved=moved, given_back=(kept, ended)
        )

    def _in_order(self, statements: BatchStatements) -> Sequence[tuple[_Rows, bytes]]:
        """Return what is to be done, those that look at the leases last."""
        return (
            (self.added, statements.add_checkpoints),
            (self.replaced, statements.replace_checkpoints),
            (self.successes, statements.stored_successes),
            (self.moves, statements.advance_requests),
            # A document that is linked already is no fault, so these are not counted.
            (self.documents, _LINK_DOCUMENTS),
            (self.kept, statements.keep_executions),
            (self.ended, statements.end_executions),
        )


def lease_lost() -> LeaseLost:
    return LeaseLost("The lease of this execution is lost; nothing was written.")


def request_moved() -> RequestMoved:
    return RequestMoved("The request isn't as it was when the event was accepted; nothing was written.")
