"""Statements as bytes that psycopg takes, from files.

Those in `sql/` are written there, for their concurrency is the point; those in `sql/core/` are made of `core_statements`.
"""

import re
from pathlib import Path

_FILES = Path(__file__).with_name("sql")
# The SELECT that tells of each row, where a statement ends with one.
_LAST_SELECT = re.compile(r"^SELECT .+ FROM (\w+)\Z", re.MULTILINE)


def sql_file(name: str) -> bytes:
    """Return the statement in `sql/<name>.sql` without its comments."""
    lines = (_FILES / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("--")).encode()


def whole_or_nothing(name: str) -> bytes:
    """Return the statement of a file that has one row for each element of `rows`, so that it fails unless all are there.

    It fails with invalid_text_representation; its words are for whoever reads the server's log. The file's last line is
    the SELECT that tells of each row, or the whole is a SELECT that changes nothing.
    """
    statement = sql_file(name).decode().rstrip()
    counted = _fails_unless("json_array_length(%(rows)s::json)")
    if last := _LAST_SELECT.search(statement):
        return f"{statement[: last.start()]}{counted}FROM {last[1]}".encode()
    return f"{counted}FROM ({statement}) AS found".encode()


def all_of(name: str, ids: str) -> bytes:
    """Return the statement of a file that selects rows of these ids, so that it fails, as above, unless it finds all."""
    counted = _fails_unless(f"cardinality(%({ids})s::uuid[])")
    return f"{counted}FROM ({sql_file(name).decode().rstrip()}) AS found".encode()


def _fails_unless(count: str) -> str:
    return (
        f"SELECT CASE WHEN count(*) = {count} THEN '1'"
        " ELSE 'something is in the way of this batch, so it is looked at row by row' END::integer\n"
    )
