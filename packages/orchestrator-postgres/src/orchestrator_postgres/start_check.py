"""Whether a process may serve from a database at all: asked once, before anything listens."""

import psycopg

from orchestrator_postgres.engine import ConnectionSettings, connect
from orchestrator_postgres.runtime_role import check_runtime_role
from orchestrator_postgres.schema_revision import revision_fault, schema_revision


async def start_faults(settings: ConnectionSettings) -> tuple[str, ...]:
    """Return a sentence for each reason not to start: no answer, a foreign schema, a role that may do too much."""
    try:
        async with await connect(settings) as connection:
            outdated = revision_fault(await schema_revision(connection))
            return (*(() if outdated is None else (outdated,)), *await check_runtime_role(connection))
    except (psycopg.Error, OSError) as fault:
        state = getattr(fault, "sqlstate", None) or type(fault).__name__
        return (f"The database can't be used with this URL ({state}): check address, role and password.",)
