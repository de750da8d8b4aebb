"""Which revisions of the schema this code can work with."""

from typing import Any

from psycopg import AsyncConnection
from psycopg.errors import InsufficientPrivilege, UndefinedTable
from psycopg.rows import tuple_row

SCHEMA = "orchestrator"

KNOWN_REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0008")
"""Every revision there is, oldest first."""

HEAD_REVISION = KNOWN_REVISIONS[-1]
"""The revision that `migrate` ends at."""

USABLE_REVISIONS = frozenset({HEAD_REVISION})
"""The revisions that this code can serve on; a newer code on an older schema waits for its migration."""


async def schema_revision(connection: AsyncConnection[Any]) -> str | None:
    """Return the revision that the database is at, None where it was never migrated or can't be read."""
    try:
        async with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute("SELECT version_num FROM orchestrator.alembic_version")
            row = await cursor.fetchone()
    except (UndefinedTable, InsufficientPrivilege):
        return None
    return None if row is None else str(row[0])


def revision_fault(revision: str | None) -> str | None:
    """Say why a service can't start on this revision, or None if it can."""
    if revision is None:
        return "The database has no orchestrator schema that this role can read: run the migrations."
    if revision in USABLE_REVISIONS:
        return None
    if revision in KNOWN_REVISIONS:
        return f"The schema is at revision {revision} and this version needs {HEAD_REVISION}: run the migrations."
    return f"The schema is at revision {revision}, which this version does not know: deploy a newer version."
