"""Which revisions of the schema this code can work with."""

from typing import Any

from psycopg import AsyncConnection
from psycopg.errors import InsufficientPrivilege, InvalidSchemaName, UndefinedFunction, UndefinedTable
from psycopg.rows import tuple_row

SCHEMA = "orchestrator"

KNOWN_REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009", "0010")
"""Every revision there is, oldest first."""

HEAD_REVISION = KNOWN_REVISIONS[-1]
"""The revision that `migrate` ends at."""

USABLE_REVISIONS = frozenset(KNOWN_REVISIONS[-2:])
"""The revisions that this code can serve on: its own and the one before, so that a deployment needs no standstill.

On a later one that it doesn't know it serves if that revision says so (`serves_code_since`). Whatever a revision adds is
used by the code in a way that also works where it isn't there yet; what code of the revision before uses is taken away a
release later.
"""


async def schema_revision(connection: AsyncConnection[Any]) -> str | None:
    """Return the revision that the database is at, None where it was never migrated or can't be read."""
    return await _one_text(connection, b"SELECT version_num FROM orchestrator.alembic_version")


async def schema_fault(connection: AsyncConnection[Any]) -> str | None:
    """Say why a service can't start on the schema that the database has, or None if it can."""
    revision = await schema_revision(connection)
    if revision is None or revision in KNOWN_REVISIONS:
        return revision_fault(revision)
    since = await _one_text(connection, b"SELECT orchestrator.serves_code_since()")
    return revision_fault(revision, serves_code_since=since)


def revision_fault(revision: str | None, *, serves_code_since: str | None = None) -> str | None:
    """Say why a service can't start on this revision, or None if it can.

    `serves_code_since` is what a revision that this code doesn't know says of older code.
    """
    if revision is None:
        return "The database has no orchestrator schema that this role can read: run the migrations."
    if revision in USABLE_REVISIONS or serves_code_since in KNOWN_REVISIONS:
        return None
    if revision in KNOWN_REVISIONS:
        return f"The schema is at revision {revision} and this version needs {HEAD_REVISION}: run the migrations."
    return f"The schema is at revision {revision}, which this version does not know: deploy a newer version."


async def _one_text(connection: AsyncConnection[Any], statement: bytes) -> str | None:
    try:
        async with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
            await cursor.execute(statement)
            row = await cursor.fetchone()
    except (UndefinedTable, UndefinedFunction, InvalidSchemaName, InsufficientPrivilege):
        return None
    return None if row is None else str(row[0])
