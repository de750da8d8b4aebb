"""Whether a connection's role may do what the service must not be able to do."""

from pathlib import Path
from typing import Any

from psycopg import AsyncConnection
from psycopg.rows import tuple_row

_SQL = Path(__file__).with_name("sql") / "runtime_role.sql"


async def check_runtime_role(connection: AsyncConnection[Any]) -> list[str]:
    """Return a sentence for each power that the connection's role has and the service must not have.

    The service starts only if there is none. Powers are looked up in the catalogues, so nothing is tried or changed;
    what the role could get by SET ROLE counts as held.
    """
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(_SQL.read_bytes())
        return [str(row[0]) for row in await cursor.fetchall()]
