"""Which published flows still have something to run, read once before a process serves."""

from collections.abc import Sequence

import psycopg

from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.flow.pinned_meaning import PinnedFlow
from orchestrator_postgres.engine import ConnectionSettings, connect
from orchestrator_postgres.row_mapping import Row, contracts_of, readable
from orchestrator_postgres.statements import sql_file

_FLOWS_IN_USE = sql_file("flows_in_use")


async def flows_in_use(settings: ConnectionSettings) -> Sequence[PinnedFlow]:
    """Return the versions that are active or have requests short of a terminal state, with what they pinned.

    Raises StorageUnavailable.
    """
    try:
        async with await connect(settings) as connection:
            rows = await (await connection.execute(_FLOWS_IN_USE)).fetchall()
    except (psycopg.Error, OSError):
        raise StorageUnavailable("The flows in use can't be read from the database.") from None
    return [_pinned_flow(row) for row in rows]


def _pinned_flow(row: Row) -> PinnedFlow:
    with readable("flow_definition"):
        return PinnedFlow(
            id=row["id"],
            flow_key=row["flow_key"],
            version=row["version"],
            contracts=contracts_of(row["contracts"]),
        )
