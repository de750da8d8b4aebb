"""Give each test a database of its own, copied from a template that was migrated once for the whole run."""

import os
from collections.abc import Iterator
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from attrs import frozen
from psycopg.conninfo import conninfo_to_dict
from tests.plugins.postgres_server import PostgresServer

from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.roles import Login, Logins, provision_roles

LOGINS = Logins(
    migration=Login(name="orchestrator_test_migration", password="migration"),
    runtime=Login(name="orchestrator_test_runtime", password="runtime"),
    retention=Login(name="orchestrator_test_retention", password="retention"),
)


@frozen(kw_only=True)
class TestDatabase:
    """The URLs of one database, one for each role that may connect to it."""

    __test__ = False

    superuser_url: str

    @property
    def migration_url(self) -> str:
        return self._url_for(LOGINS.migration)

    @property
    def runtime_url(self) -> str:
        return self._url_for(LOGINS.runtime)

    @property
    def retention_url(self) -> str:
        return self._url_for(LOGINS.retention)

    def execute(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser, committed, and return its rows; it is how tests let leases expire."""
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters or None)
            return cursor.fetchall() if cursor.description else []

    @property
    def name(self) -> str:
        return str(conninfo_to_dict(self.superuser_url)["dbname"])

    def fingerprint(self) -> object:
        """Return a value that changes with any table, trigger, function, constraint, grant or setting."""
        return self.execute(_FINGERPRINT)

    def empty(self) -> None:
        """Cut off whoever is still connected, and delete every row past all triggers."""
        with psycopg.connect(self.superuser_url) as connection:
            connection.execute(_CUT_OFF)
            connection.execute(DELETE_EVERYTHING)

    def _url_for(self, login: Login) -> str:
        parts = conninfo_to_dict(self.superuser_url)
        return f"postgresql://{login.name}:{login.password}@{parts['host']}:{parts['port']}/{parts['dbname']}"


@pytest.fixture(scope="session")
def migrated_template(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a database at the newest revision, made once however many processes run the tests."""
    name = f"orchestrator_template_{os.environ.get('PYTEST_XDIST_TESTRUNUID', uuid4().hex)[:16]}"
    shared = _shared_directory(tmp_path_factory)
    with (shared / f"{name}.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        made = shared / f"{name}.made"
        if not made.exists():
            url = postgres_server.create_database(name)
            provision_roles(url, LOGINS)
            migrate(TestDatabase(superuser_url=url).migration_url)
            made.touch()
    return name


@pytest.fixture(scope="session")
def idle_databases(postgres_server: PostgresServer) -> Iterator[list[TestDatabase]]:
    """Databases that earlier tests of this process have left empty and as they were made."""
    idle: list[TestDatabase] = []
    yield idle
    for left in idle:
        postgres_server.drop_database(left.name)


@pytest.fixture
def database(
    postgres_server: PostgresServer, migrated_template: str, idle_databases: list[TestDatabase]
) -> Iterator[TestDatabase]:
    """A migrated, empty database for this test alone."""
    given = idle_databases.pop() if idle_databases else _copied(postgres_server, migrated_template)
    made = given.fingerprint()
    yield given
    # Dropping a database costs two checkpoints, so one whose schema is as it was serves again.
    if given.fingerprint() == made:
        given.empty()
        idle_databases.append(given)
    else:
        postgres_server.drop_database(given.name)


@pytest.fixture
def unmigrated_database(postgres_server: PostgresServer, migrated_template: str) -> Iterator[TestDatabase]:
    """A database with the roles and an empty schema, before its first migration."""
    name = f"orchestrator_test_{uuid4().hex[:16]}"
    url = postgres_server.create_database(name)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA orchestrator AUTHORIZATION {LOGINS.migration.name}")
    yield TestDatabase(superuser_url=url)
    postgres_server.drop_database(name)


def _shared_directory(factory: pytest.TempPathFactory) -> Path:
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def _copied(server: PostgresServer, template: str) -> TestDatabase:
    url = server.create_database(f"orchestrator_test_{uuid4().hex[:16]}", template=template)
    return TestDatabase(superuser_url=url)


_FINGERPRINT = """
SELECT
  (SELECT array_agg((oid, relname, relacl, relowner, reloptions) ORDER BY oid)::text FROM pg_class
    WHERE relnamespace = 'orchestrator'::regnamespace),
  (SELECT array_agg((oid, tgenabled) ORDER BY oid)::text FROM pg_trigger),
  (SELECT array_agg((oid, prosrc) ORDER BY oid)::text FROM pg_proc
    WHERE pronamespace = 'orchestrator'::regnamespace),
  (SELECT array_agg((oid, conname) ORDER BY oid)::text FROM pg_constraint),
  (SELECT array_agg((attrelid, attname, attacl) ORDER BY attrelid, attnum)::text FROM pg_attribute
    WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'orchestrator'::regnamespace)),
  (SELECT array_agg((oid, nspname, nspacl, nspowner) ORDER BY oid)::text FROM pg_namespace
    WHERE nspname NOT LIKE 'pg_%'),
  (SELECT array_agg((setrole, setconfig) ORDER BY setrole)::text FROM pg_db_role_setting
    WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())),
  (SELECT string_agg(version_num, ',') FROM orchestrator.alembic_version)
"""

_CUT_OFF = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

DELETE_EVERYTHING = """
DO $$
DECLARE
  emptied text;
BEGIN
  SET LOCAL session_replication_role = replica;
  FOR emptied IN
    SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
    WHERE schemaname = 'orchestrator' AND tablename <> 'alembic_version'
  LOOP
    EXECUTE 'DELETE FROM ' || emptied;
  END LOOP;
END $$
"""
