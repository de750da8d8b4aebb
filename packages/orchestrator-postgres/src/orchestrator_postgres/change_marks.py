"""Change marks, read outside of any transaction."""

from collections.abc import Collection, Mapping
from uuid import UUID

from attrs import frozen

from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.change_marks import ChangeMarks
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.engine import PostgresEngine
from orchestrator_postgres.statements import sql_file

_READ = sql_file("read_change_marks")


@frozen
class PostgresChangeMarks(ChangeMarks):
    """Read marks in one statement on a connection of the engine."""

    _engine: PostgresEngine

    async def marks(
        self, requests: Collection[RequestId], executions: Collection[ExecutionId]
    ) -> Mapping[UUID, str]:
        values = {"requests": [*requests], "executions": [*executions]}

        async def read(_: int) -> Mapping[UUID, str]:
            async with self._engine.connection() as connection:
                rows = await (await connection.execute(_READ, values)).fetchall()
            return {row["id"]: row["mark"] for row in rows}

        return await retried(read)
