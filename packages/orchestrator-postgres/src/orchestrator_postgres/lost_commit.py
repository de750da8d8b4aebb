"""What became of a write whose COMMIT got no answer: the rows know."""

from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fenced_write import FencedWrite
from orchestrator_postgres.row_mapping import Row
from orchestrator_postgres.statements import sql_file

_READ_OUTCOME = sql_file("read_outcome")
_READ_CHECKPOINTS = sql_file("read_checkpoints")


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


def _is_stored(row: Row | None, after: Checkpoint) -> bool:
    return row is not None and (row["status"], row["attempt_count"], row["input_hash"]) == (
        after.status.value,
        after.attempts,
        after.input_hash,
    )
