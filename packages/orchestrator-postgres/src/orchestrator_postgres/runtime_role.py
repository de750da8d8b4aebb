"""Whether a connection's role may do what the service must not be able to do, and whether the database keeps others from it."""

from pathlib import Path
from typing import Any, Final

from psycopg import AsyncConnection
from psycopg.rows import tuple_row

_SQL: Final = Path(__file__).with_name("sql")


async def check_runtime_role(connection: AsyncConnection[Any]) -> list[str]:
    """Return a sentence for each power that the connection's role has and the service must not have.

    The service starts only if there is none. Powers are looked up in the catalogues, so nothing is tried or changed;
    what the role could get by SET ROLE counts as held.
    """
    return await _sentences(connection, "runtime_role")


async def check_guards(connection: AsyncConnection[Any]) -> list[str]:
    """Return a sentence for each trigger or foreign key that should protect what is stored and doesn't.

    The service starts only if there is none.
    """
    return await _sentences(connection, "guards")


async def _sentences(connection: AsyncConnection[Any], name: str) -> list[str]:
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute((_SQL / f"{name}.sql").read_bytes())
        return [str(row[0]) for row in await cursor.fetchall()]
