"""Bring a database's schema to the newest revision."""

from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from attrs import frozen
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from orchestrator_domain.errors import OrchestratorError
from orchestrator_postgres.connection_url import alchemy_url
from orchestrator_postgres.migrations.plain_sql import run_sql_file
from orchestrator_postgres.roles import GROUP_ROLES
from orchestrator_postgres.schema_revision import HEAD_REVISION, SCHEMA

_MIGRATIONS = Path(__file__).with_name("migrations")
# Any number will do, as long as every version of this code takes the same one.
_ADVISORY_LOCK = 7_203_945_811_406_153


@frozen(kw_only=True)
class Migrated:
    """Where the schema is now, and the group roles that got no grants because they don't exist yet."""

    revision: str
    missing_roles: tuple[str, ...]


class MigrationFailed(OrchestratorError):
    """The schema could not be brought to its newest revision; it is as it was."""

    code = "MIGRATION_FAILED"


def migrate(migration_url: str, *, target: str = "head") -> Migrated:
    """Run what is missing of the revisions up to `target`, then grant the group roles what they may do.

    Of several at once one works and the others wait, then find nothing to do. The role of the URL owns what is made; it
    needs CREATE on the database, or the schema made for it. Raises MigrationFailed, and then nothing has changed.
    """
    engine = create_engine(alchemy_url(migration_url), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            return _migrated(connection, target)
    except (DBAPIError, psycopg.Error) as fault:
        raise MigrationFailed(f"The migration stopped and changed nothing: {_reason(fault)}.") from None
    except CommandError:
        raise MigrationFailed(
            "The schema is at a revision that this version does not know; deploy a newer version."
        ) from None
    finally:
        engine.dispose()


def _migrated(connection: Connection, target: str) -> Migrated:
    _take_turn(connection)
    _make_schema(connection)
    command.upgrade(_configuration(connection), target)
    run_sql_file(connection, _MIGRATIONS / "grants.sql")
    missing = _missing_roles(connection)
    revision = connection.execute(text("SELECT version_num FROM orchestrator.alembic_version")).scalar_one()
    connection.commit()
    return Migrated(revision=str(revision), missing_roles=missing)


def _reason(fault: DBAPIError | psycopg.Error) -> str:
    """Return the server's own sentence; of statements that define tables it names objects, never data."""
    cause = fault.orig if isinstance(fault, DBAPIError) else fault
    if not isinstance(cause, psycopg.Error) or cause.sqlstate is None:
        return "the database does not answer at this URL, or refuses role and password"
    return f"{cause.diag.message_primary} (SQLSTATE {cause.sqlstate})"


def head_revision() -> str:
    return HEAD_REVISION


def _take_turn(connection: Connection) -> None:
    # The lock belongs to the session, so it outlives the transactions of the revisions and ends with the connection.
    connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _ADVISORY_LOCK})
    # From here on a table that somebody else holds for long stops the migration, and not everybody behind it.
    connection.execute(text("SET lock_timeout = '30s'"))
    connection.commit()


def _make_schema(connection: Connection) -> None:
    # IF NOT EXISTS asks for CREATE on the database even where an administrator has made the schema already.
    if connection.execute(text("SELECT to_regnamespace(:name)"), {"name": SCHEMA}).scalar() is None:
        connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))


def _configuration(connection: Connection) -> Config:
    configuration = Config()
    configuration.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    configuration.set_main_option("path_separator", "os")
    configuration.attributes["connection"] = connection
    return configuration


def _missing_roles(connection: Connection) -> tuple[str, ...]:
    found = connection.execute(text("SELECT rolname FROM pg_roles")).scalars().all()
    return tuple(role for role in GROUP_ROLES if role not in found)
