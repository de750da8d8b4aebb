"""Statements as bytes that psycopg takes: from files, and compiled once from SQLAlchemy Core."""

from pathlib import Path

from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql.psycopg import dialect
from sqlalchemy.sql import ClauseElement

_FILES = Path(__file__).with_name("sql")
_DIALECT: Dialect = dialect()  # type: ignore[no-untyped-call]


def sql_file(name: str) -> bytes:
    """Return the statement in `sql/<name>.sql` without its comments."""
    lines = (_FILES / f"{name}.sql").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("--")).encode()


def compiled(statement: ClauseElement) -> bytes:
    """Return a Core statement as text with named parameters; values are given when it is executed."""
    return str(statement.compile(dialect=_DIALECT)).encode()
