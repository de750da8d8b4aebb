"""What a doctor asks of a database: reading only, on connections of its own."""

import time
from collections.abc import Callable
from typing import Final

import psycopg
from attrs import frozen

from orchestrator_postgres.engine import ConnectionSettings, StoreConnection, connect
from orchestrator_postgres.runtime_role import check_guards, check_runtime_role
from orchestrator_postgres.schema_revision import HEAD_REVISION, schema_fault, schema_revision
from orchestrator_postgres.statements import sql_file

_SERVER = sql_file("examine_server")
_QUEUE = sql_file("examine_queue")
_ANOTHER_ROLE = sql_file("another_role")
_MISSING = sql_file("missing_privileges")
_PROBE_SECONDS: Final = 2.0
# A channel of its own, so that no worker is woken.
_LISTEN: Final = b"LISTEN orchestrator_doctor"
_NOTIFY: Final = b"NOTIFY orchestrator_doctor"


@frozen(kw_only=True)
class QueueAges:
    """How long the oldest due execution has waited and the oldest lease has been over; None where there is none."""

    longest_due_seconds: float | None
    longest_expired_seconds: float | None


@frozen(kw_only=True)
class Examination:
    """What was found.

    `queue` is None where the schema can't be read, which `schema_fault` then tells, and `another_role` says why the role
    can't be the one that the service is meant to have, where it can't.
    """

    is_standby: bool
    schema_fault: str | None
    schema_behind: bool
    another_role: str | None
    powers_too_many: tuple[str, ...]
    powers_missing: tuple[str, ...]
    guards_off: tuple[str, ...]
    clock_ahead_seconds: float
    clock_uncertain_seconds: float
    longest_transaction_seconds: float
    sessions_hidden: int
    notified: bool
    queue: QueueAges | None


async def examine(
    settings: ConnectionSettings, *, wall_seconds: Callable[[], float] = time.time
) -> Examination:
    """Examine the database of a URL; raises what the driver raises where it can't be used."""
    async with await connect(settings) as connection:
        fault, revision = await schema_fault(connection), await schema_revision(connection)
        before = wall_seconds()
        row = await (await connection.execute(_SERVER)).fetchone()
        after = wall_seconds()
        assert row is not None, "a SELECT without FROM has a row"
        too_many = await check_runtime_role(connection)
        ages = (row["longest_transaction_seconds"], row["longest_prepared_seconds"])
        return Examination(
            is_standby=row["is_standby"],
            schema_fault=fault,
            schema_behind=fault is None and revision is not None and revision < HEAD_REVISION,
            another_role=next(iter(await _sentences(connection, _ANOTHER_ROLE)), None),
            powers_too_many=tuple(too_many),
            powers_missing=await _sentences(connection, _MISSING),
            guards_off=tuple(await check_guards(connection)),
            clock_ahead_seconds=row["epoch_seconds"] - (before + after) / 2,
            clock_uncertain_seconds=(after - before) / 2,
            longest_transaction_seconds=max((age for age in ages if age is not None), default=0.0),
            sessions_hidden=row["sessions_hidden"],
            notified=await _is_notified(settings),
            queue=await _queue_ages(connection) if fault is None else None,
        )


async def _sentences(connection: StoreConnection, statement: bytes) -> tuple[str, ...]:
    rows = await (await connection.execute(statement)).fetchall()
    return tuple(str(row["told"]) for row in rows)


async def _queue_ages(connection: StoreConnection) -> QueueAges | None:
    try:
        row = await (await connection.execute(_QUEUE)).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return None
    assert row is not None, "a SELECT without FROM has a row"
    return QueueAges(**row)


async def _is_notified(settings: ConnectionSettings) -> bool:
    """Send a notification on one connection and say whether another one hears it in time, as workers would."""
    async with await connect(settings) as listening, await connect(settings) as sending:
        await listening.execute(_LISTEN)
        await sending.execute(_NOTIFY)
        heard = [each async for each in listening.notifies(timeout=_PROBE_SECONDS, stop_after=1)]
        return bool(heard)
