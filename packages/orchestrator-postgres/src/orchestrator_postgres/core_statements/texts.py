"""The statements as texts with named parameters; values are given when they are executed."""

from collections.abc import Mapping
from itertools import chain

from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql.psycopg import dialect
from sqlalchemy.sql import ClauseElement

from orchestrator_postgres.core_statements import (
    audit,
    executions,
    flows,
    request_types,
    requests,
    resolutions,
)

_ROOMS = (audit, executions, flows, request_types, requests, resolutions)
_DIALECT: Dialect = dialect()  # type: ignore[no-untyped-call]


def statement_texts() -> Mapping[str, str]:
    """Return the text of every statement by its name."""
    named = chain.from_iterable(room.STATEMENTS.items() for room in _ROOMS)
    return {name: _text(statement) for name, statement in named}


def _text(statement: ClauseElement) -> str:
    lines = str(statement.compile(dialect=_DIALECT)).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)
