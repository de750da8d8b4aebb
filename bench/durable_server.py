"""One private PostgreSQL for all durable figures, with default durability, and migrated databases on it."""

import atexit
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg
from attrs import frozen
from psycopg.conninfo import conninfo_to_dict

from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.roles import Login, Logins, provision_roles
from orchestrator_sandbox.embedded_postgres import EmbeddedPostgres

_LOGINS = Logins(
    migration=Login(name="bench_migration", password="migration"),
    runtime=Login(name="bench_runtime", password="runtime"),
    retention=Login(name="bench_retention", password="retention"),
)


@frozen(kw_only=True)
class BenchDatabase:
    """A database of one measurement's own."""

    superuser_url: str

    @property
    def runtime_url(self) -> str:
        """Return the URL of the role that the service uses."""
        return self._url_for(_LOGINS.runtime)

    @property
    def migration_url(self) -> str:
        return self._url_for(_LOGINS.migration)

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """Connect as the superuser, in autocommit mode."""
        return psycopg.connect(self.superuser_url, autocommit=True)

    def number(self, query: str) -> float:
        """Return the one number that a query finds."""
        with self.connect() as connection:
            row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return float(str(row[0]))

    def _url_for(self, login: Login) -> str:
        parts = conninfo_to_dict(self.superuser_url)
        return f"postgresql://{login.name}:{login.password}@{parts['host']}:{parts['port']}/{parts['dbname']}"


@cache
def server() -> EmbeddedPostgres:
    """Return the server, started at its first use; it stops with this process."""
    started = EmbeddedPostgres()
    started.start()
    atexit.register(started.stop)
    return started


def empty_database() -> BenchDatabase:
    """Make a database without a schema, for peers that bring their own."""
    name = f"bench_{uuid4().hex[:12]}"
    server().create_database(name)
    return BenchDatabase(superuser_url=server().url_of(name))


def fresh_migrated_database() -> BenchDatabase:
    """Make a database with our schema that nobody else uses."""
    return _migrated(empty_database())


@cache
def migrated_database() -> BenchDatabase:
    """Return the database with our schema that measurements of this process share if they leave nothing to be done."""
    return fresh_migrated_database()


@cache
def accepting_database() -> BenchDatabase:
    """Return the one on which events are accepted that nobody carries out."""
    return fresh_migrated_database()


@cache
def logging_database() -> tuple[BenchDatabase, Path]:
    """Return a database on a server of its own that logs every statement, and that log."""
    logging = EmbeddedPostgres(settings={"log_statement": "all"})
    logging.start()
    atexit.register(logging.stop)
    logging.create_database("bench")
    return _migrated(BenchDatabase(superuser_url=logging.url_of("bench"))), logging.log_file


def _migrated(database: BenchDatabase) -> BenchDatabase:
    provision_roles(database.superuser_url, _LOGINS)
    migrate(database.migration_url)
    return database
