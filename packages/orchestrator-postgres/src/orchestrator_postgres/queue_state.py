"""The state of the whole queue, for whoever watches it: a cheap and bounded look at what has not ended."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_postgres.engine import PostgresEngine
from orchestrator_postgres.statements import sql_file

COUNTED_MAX: Final = 100_000
"""How many executions are counted at most, so that a long queue can't make looking at it expensive."""

_READ = sql_file("read_queue_state")
# The planner would rather walk over a table of mostly active rows; what has ended must never be walked over.
_BOUNDED = b"SELECT set_config('statement_timeout', '1s', true), set_config('enable_seqscan', 'off', true)"


@frozen(kw_only=True)
class QueueState:
    """What waits and what runs, by the store's clock; times are 0 where nothing waits."""

    executions: Mapping[ExecutionStatus, int]
    longest_due_seconds: float
    expired_leases: int
    oldest_reconciliation_seconds: float


async def read_queue_state(engine: PostgresEngine) -> QueueState:
    """Look once, within a second of the server's time; raises what the driver raises."""
    async with engine.connection() as connection, connection.transaction():
        await connection.execute(_BOUNDED)
        row = await (await connection.execute(_READ, {"counted_max": COUNTED_MAX})).fetchone()
    assert row is not None, "an aggregate has a row"
    return QueueState(
        executions={status: row[status.value] for status in ExecutionStatus if status.active},
        longest_due_seconds=row["longest_due_seconds"] or 0.0,
        expired_leases=row["expired_leases"],
        oldest_reconciliation_seconds=row["oldest_reconciliation_seconds"] or 0.0,
    )
