"""Judge several events in one transaction, each by itself, and store what is accepted.

Lock, then read, then judge, then write. Whatever a judge raises is the answer to its own event and nobody else's; a
fault of the store fails the whole batch, so that its events can be judged alone, where the fault is nobody else's.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from uuid import UUID

import psycopg
from attrs import frozen
from psycopg import AsyncCursor
from psycopg.rows import DictRow

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.ports.event_judgement import (
    AddressedEvent,
    AnsweredEvent,
    Judge,
    NewExecution,
    RequestAtHand,
)
from orchestrator_domain.ports.flow_store import FlowStore
from orchestrator_postgres.accepted_rows import accepted_row, event_row, execution_row
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fault_translation import TransientFault
from orchestrator_postgres.flow_store import PostgresFlowStore
from orchestrator_postgres.history import ADVANCE
from orchestrator_postgres.row_mapping import Row, execution_of, request_of
from orchestrator_postgres.short_transaction import short_transaction
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import rows_parameter

_LOCK = sql_file("lock_free_visible_requests")
_READ = sql_file("read_visible_requests")
_READ_BY_KEY = sql_file("executions_by_key")
_ADD = sql_file("add_executions")


class Unsettled(Enum):
    """What is left to be judged alone: a request that somebody else holds, or that moved in spite of its lock; a late batch."""

    BUSY = "BUSY"
    MOVED = "MOVED"
    LATE = "LATE"


type Answer = AnsweredEvent | Exception | Unsettled
type Judged = NewExecution | AnsweredEvent | Exception | Unsettled


@frozen(kw_only=True)
class _Found:
    """What was read once everything that is free had been locked."""

    locked: frozenset[UUID]
    visible: Mapping[UUID, Row]
    by_key: Mapping[UUID, Row]

    def is_busy(self, event: AddressedEvent) -> bool:
        return event.request_id in self.visible and event.request_id not in self.locked

    def at_hand(self, event: AddressedEvent) -> RequestAtHand | None:
        row, earlier = self.visible.get(event.request_id), self.by_key.get(event.request_id)
        if row is None:
            return None
        return RequestAtHand(
            request=request_of(row),
            active_execution=row["active_execution_id"],
            earlier=None if earlier is None else execution_of(earlier),
        )


async def judge_together(
    connection: StoreConnection, events: Sequence[tuple[AddressedEvent, Judge]]
) -> Sequence[Answer]:
    """Judge events of different requests and commit; return one answer for each.

    Raises a fault of the driver for the batch as a whole; what became of it is unknown then.
    """
    async with short_transaction(connection):
        found = await _locked_and_read(connection, [event for event, _ in events])
        flows = PostgresFlowStore(connection)
        judged = [await _judged(found, flows, event, judge) for event, judge in events]
        adding = await _store(connection, [one for one in judged if isinstance(one, NewExecution)])
        # The commit is sent with the writes: an execution is added exactly where its request moves on.
    added = {row["id"]: row for row in (await adding.fetchall() if adding is not None else ())}
    return [_answer(one, added) for one in judged]


async def _locked_and_read(connection: StoreConnection, events: Sequence[AddressedEvent]) -> _Found:
    asked = rows_parameter([event_row(event) for event in events])
    locking = await connection.execute(_LOCK, asked)
    reading = await connection.execute(_READ, asked)
    reading_by_key = await connection.execute(_READ_BY_KEY, asked)
    return _Found(
        locked=frozenset(row["id"] for row in await locking.fetchall()),
        visible={row["request_id"]: row for row in await reading.fetchall()},
        by_key={row["request_id"]: row for row in await reading_by_key.fetchall()},
    )


async def _judged(found: _Found, flows: FlowStore, event: AddressedEvent, judge: Judge) -> Judged:
    if found.is_busy(event):
        return Unsettled.BUSY
    try:
        return await judge(found.at_hand(event), flows)
    except (psycopg.Error, TransientFault):
        raise
    except Exception as refusal:  # noqa: BLE001 - whatever it is, it is the answer to this event alone
        return refusal


async def _store(
    connection: StoreConnection, accepted: Sequence[NewExecution]
) -> AsyncCursor[DictRow] | None:
    if not accepted:
        return None
    adding = await connection.execute(
        _ADD, rows_parameter([execution_row(one.execution) for one in accepted])
    )
    await connection.execute(ADVANCE, rows_parameter([accepted_row(one) for one in accepted]))
    return adding


def _answer(judged: Judged, added: Mapping[UUID, Row]) -> Answer:
    if not isinstance(judged, NewExecution):
        return judged
    row = added.get(judged.execution.id)
    if row is None:
        return Unsettled.MOVED
    try:
        return AnsweredEvent(request=judged.request, execution=execution_of(row))
    except OrchestratorError as unreadable:
        return unreadable
