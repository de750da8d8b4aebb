"""The executions and checkpoints of some requests, as rows by what they belong to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from attrs import frozen

from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import ExecutionId
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.row_mapping import Row, checkpoint_of, execution_of
from orchestrator_postgres.statements import sql_file

_CHECKPOINTS = sql_file("recorded_checkpoints")
_EXECUTIONS = sql_file("core/read_executions")


@frozen(kw_only=True)
class RunRows:
    """What was read of some requests."""

    _executions: Mapping[UUID, Sequence[Row]]
    _checkpoints: Mapping[UUID, Sequence[Row]]

    def executions_of(self, request_id: UUID) -> tuple[Execution, ...]:
        return tuple(map(execution_of, self._executions.get(request_id, ())))

    def checkpoints_of(self, request_id: UUID) -> Mapping[ExecutionId, tuple[Checkpoint, ...]]:
        return {
            ExecutionId(row["id"]): tuple(map(checkpoint_of, self._checkpoints.get(row["id"], ())))
            for row in self._executions.get(request_id, ())
        }


async def read_run_rows(connection: StoreConnection, request_ids: Sequence[UUID]) -> RunRows:
    """Read in two statements; their snapshot is the caller's to hold."""
    executions = await rows_by(connection, _EXECUTIONS, request_ids, "request_id")
    execution_ids = [row["id"] for some in executions.values() for row in some]
    return RunRows(
        executions=executions,
        checkpoints=await rows_by(connection, _CHECKPOINTS, execution_ids, "execution_id"),
    )


async def rows_by(
    connection: StoreConnection, statement: bytes, ids: Sequence[UUID], column: str
) -> Mapping[UUID, list[Row]]:
    """Return what a statement finds for some ids, by one of its columns, in its own order."""
    found: dict[UUID, list[Row]] = defaultdict(list)
    for row in await (await connection.execute(statement, {"ids": ids})).fetchall():
        found[row[column]].append(row)
    return found
