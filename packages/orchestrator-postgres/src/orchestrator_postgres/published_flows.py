"""Published flow versions, read outside of any transaction."""

from attrs import frozen

from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.identifiers import FlowId
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.engine import PostgresEngine
from orchestrator_postgres.row_mapping import flow_of
from orchestrator_postgres.statements import sql_file

_FIND = sql_file("core/find_published_flow")


@frozen
class PostgresPublishedFlows(PublishedFlows):
    """Read published versions; whoever asks keeps them, since they never change."""

    _engine: PostgresEngine

    async def find(self, flow_id: FlowId) -> StoredFlow | None:
        async def read(_: int) -> StoredFlow | None:
            async with self._engine.connection() as connection:
                row = await (await connection.execute(_FIND, {"id": flow_id})).fetchone()
            return None if row is None else flow_of(row)

        return await retried(read)
