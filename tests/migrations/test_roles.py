"""What each role is forbidden, tried as that role; and what provisioning gives and takes back."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from attrs import evolve
from psycopg.errors import (
    FeatureNotSupported,
    InsufficientPrivilege,
    RestrictViolation,
)
from tests.migrations.rows import DRAFT_ID, HASH, UNKNOWN_ID, insert, insert_all
from tests.plugins.migrated_database import LOGINS, TestDatabase

from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.roles import Login, bootstrap_sql, provision_roles

RUNTIME = LOGINS.runtime.name


@pytest.fixture
def filled(database: TestDatabase) -> TestDatabase:
    """A database with a row in each table and a draft beside the published flow."""
    with psycopg.connect(database.runtime_url) as connection:
        insert_all(connection)
        insert(connection, "flow_definition", {"id": DRAFT_ID, "version": 2})
    return database


@pytest.fixture
def runtime(filled: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(filled.runtime_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def owner(filled: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    """The migration role, which owns the tables and is held back by triggers alone."""
    with psycopg.connect(filled.migration_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def retention(filled: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(filled.retention_url, autocommit=True) as connection:
        yield connection


TABLES = (
    "flow_definition",
    "request_type",
    "request_instance",
    "execution",
    "action_execution",
    "document_reference",
    "audit_entry",
    "admin_audit",
    "request_creation",
    "reconciliation_resolution",
)

FORBIDDEN_TO_THE_RUNTIME = [
    "CREATE TABLE orchestrator.more (id integer)",
    "CREATE FUNCTION orchestrator.more() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "CREATE SCHEMA more",
    "ALTER TABLE orchestrator.execution ADD COLUMN more integer",
    "ALTER TABLE orchestrator.audit_entry DISABLE TRIGGER ALL",
    "DROP TABLE orchestrator.audit_entry",
    "DROP TRIGGER audit_entry_append_only ON orchestrator.audit_entry",
    "CREATE INDEX more ON orchestrator.execution (status)",
    "SET session_replication_role = 'replica'",
    "SET ROLE orchestrator_test_migration",
    "SET ROLE orchestrator_retention",
    "UPDATE orchestrator.alembic_version SET version_num = 'x'",
    "UPDATE orchestrator.audit_entry SET detail = NULL, salt = NULL",
    "UPDATE orchestrator.audit_entry SET kind = 'x'",
    "UPDATE orchestrator.admin_audit SET action = 'x'",
    "UPDATE orchestrator.reconciliation_resolution SET evidence = '{}'",
    "UPDATE orchestrator.request_creation SET payload_hash = payload_hash",
    "UPDATE orchestrator.document_reference SET checksum = 'x'",
    "UPDATE orchestrator.flow_definition SET flow_key = 'x'",
    "UPDATE orchestrator.flow_definition SET version = 9",
    "UPDATE orchestrator.flow_definition SET schema_version = 9",
    "UPDATE orchestrator.request_instance SET flow_id = flow_id",
    "UPDATE orchestrator.request_instance SET owner_subject = 'x'",
    "UPDATE orchestrator.request_instance SET business_scope = 'x'",
    "UPDATE orchestrator.request_instance SET initial_data = '{}'",
    "UPDATE orchestrator.execution SET event_data = '{}'",
    "UPDATE orchestrator.execution SET actor_snapshot = '{}'",
    "UPDATE orchestrator.execution SET idempotency_key = 'x'",
    *(f"DELETE FROM orchestrator.{table}" for table in TABLES),
    *(f"TRUNCATE orchestrator.{table} CASCADE" for table in TABLES),
]


@pytest.mark.parametrize("statement", FORBIDDEN_TO_THE_RUNTIME)
def test_the_runtime_role_is_refused(runtime: psycopg.Connection[Any], statement: str) -> None:
    with pytest.raises(InsufficientPrivilege):
        runtime.execute(statement.encode())


SEALED = [
    "id = gen_random_uuid()",
    "created_at = clock_timestamp()",
    "definition = '{\"rate\": 1.0}'",
    "definition = '{}'",
    "flow_key = 'OTHER'",
    "version = 3",
    "schema_version = 2",
    "checksum = repeat('b', 64)",
    "contracts = '[{}]'",
    "created_by = 'somebody'",
    "published_at = clock_timestamp()",
]


@pytest.mark.parametrize("change", SEALED)
def test_a_published_flow_is_immutable_even_to_its_owner(owner: psycopg.Connection[Any], change: str) -> None:
    for status in ("", ", status = 'RETIRED'"):
        with pytest.raises(RestrictViolation):
            owner.execute(
                f"UPDATE orchestrator.flow_definition SET {change}{status} WHERE version = 1".encode()
            )


SEALED_TO_THE_RUNTIME = [
    "definition = '{\"rate\": 1.0}'",
    "checksum = repeat('b', 64)",
    "checksum = NULL",
    "contracts = '[{}]'",
    "published_at = clock_timestamp()",
    "published_at = NULL",
    "revision = revision + 1",
    "definition = definition",
]


@pytest.mark.parametrize("change", SEALED_TO_THE_RUNTIME)
@pytest.mark.parametrize("status", ["PUBLISHED", "RETIRED"])
def test_the_columns_that_the_runtime_role_may_write_are_sealed_once_published(
    runtime: psycopg.Connection[Any], change: str, status: str
) -> None:
    if status == "RETIRED":
        runtime.execute("UPDATE orchestrator.flow_definition SET status = 'RETIRED' WHERE version = 1")
    before = runtime.execute("SELECT * FROM orchestrator.flow_definition WHERE version = 1").fetchall()
    with pytest.raises(RestrictViolation):
        runtime.execute(f"UPDATE orchestrator.flow_definition SET {change} WHERE version = 1".encode())
    after = runtime.execute("SELECT * FROM orchestrator.flow_definition WHERE version = 1").fetchall()
    assert after == before


@pytest.mark.parametrize(
    "statement",
    [
        (
            "INSERT INTO orchestrator.flow_definition"
            " (id, flow_key, version, status, schema_version, definition, created_by)"
            " SELECT gen_random_uuid(), flow_key, version, 'DRAFT', 1, '{}', 'editor'"
            " FROM orchestrator.flow_definition WHERE version = 1"
            " ON CONFLICT (flow_key, version) DO UPDATE SET definition = excluded.definition"
        ),
        (
            "MERGE INTO orchestrator.flow_definition AS flow USING (SELECT 1 AS version) AS wanted"
            " ON flow.version = wanted.version WHEN MATCHED THEN UPDATE SET definition = '{}'"
        ),
        (
            "WITH changed AS (UPDATE orchestrator.flow_definition SET definition = '{}' WHERE version = 1"
            " RETURNING 1) SELECT * FROM changed"
        ),
    ],
    ids=["upsert", "merge", "with"],
)
def test_no_other_statement_gets_around_the_seal(runtime: psycopg.Connection[Any], statement: str) -> None:
    with pytest.raises(RestrictViolation):
        runtime.execute(statement.encode())


@pytest.mark.parametrize("cascade", ["", " CASCADE"])
def test_published_flows_are_not_emptied_even_by_their_owner(
    owner: psycopg.Connection[Any], cascade: str
) -> None:
    # Without CASCADE the foreign keys come first, with it the guard has the only word.
    with pytest.raises((RestrictViolation, FeatureNotSupported)):
        owner.execute(f"TRUNCATE orchestrator.flow_definition{cascade}".encode())
    assert owner.execute("SELECT count(*) FROM orchestrator.flow_definition").fetchone() == (2,)


@pytest.mark.parametrize(
    ("version", "statuses"),
    [
        (1, ["DRAFT"]),
        (1, ["PUBLISHED"]),
        (1, ["RETIRED", "DRAFT"]),
        (1, ["RETIRED", "PUBLISHED"]),
        (1, ["RETIRED", "RETIRED"]),
    ],
)
def test_a_published_flow_can_only_be_retired(
    runtime: psycopg.Connection[Any], version: int, statuses: list[str]
) -> None:
    *allowed, refused = statuses
    change = b"UPDATE orchestrator.flow_definition SET status = %s WHERE version = %s"
    for status in allowed:
        runtime.execute(change, [status, version])
    with pytest.raises(RestrictViolation):
        runtime.execute(change, [refused, version])


def test_a_draft_is_edited_published_and_then_sealed(runtime: psycopg.Connection[Any]) -> None:
    runtime.execute("UPDATE orchestrator.flow_definition SET definition = '{\"a\": 2}' WHERE version = 2")
    with pytest.raises(RestrictViolation):
        runtime.execute("UPDATE orchestrator.flow_definition SET status = 'RETIRED' WHERE version = 2")
    runtime.execute(
        "UPDATE orchestrator.flow_definition SET status = 'PUBLISHED', checksum = repeat('c', 64),"
        " published_at = clock_timestamp() WHERE version = 2"
    )
    with pytest.raises(RestrictViolation):
        runtime.execute("UPDATE orchestrator.flow_definition SET definition = '{}' WHERE version = 2")


@pytest.mark.parametrize("status", ["PUBLISHED", "RETIRED"])
@pytest.mark.parametrize("url", ["runtime_url", "migration_url"])
def test_a_flow_version_begins_as_a_draft_whoever_adds_it(
    filled: TestDatabase, url: str, status: str
) -> None:
    published = {"status": status, "checksum": HASH, "published_at": "2030-01-01T00:00:00Z"}
    with psycopg.connect(getattr(filled, url)) as connection, pytest.raises(RestrictViolation):
        insert(connection, "flow_definition", {"id": UNKNOWN_ID, "version": 3, **published})


def test_a_published_flow_is_never_deleted_even_by_its_owner(owner: psycopg.Connection[Any]) -> None:
    owner.execute("DELETE FROM orchestrator.flow_definition WHERE version = 2")
    with pytest.raises(RestrictViolation):
        owner.execute("DELETE FROM orchestrator.flow_definition WHERE version = 1")


@pytest.mark.parametrize("table", ["audit_entry", "admin_audit", "reconciliation_resolution"])
def test_what_was_recorded_is_changed_by_nobody(owner: psycopg.Connection[Any], table: str) -> None:
    for statement in (
        f"UPDATE orchestrator.{table} SET created_at = created_at",
        f"DELETE FROM orchestrator.{table}",
        f"TRUNCATE orchestrator.{table}",
    ):
        with pytest.raises(RestrictViolation):
            owner.execute(statement.encode())


def test_the_owner_can_not_erase(owner: psycopg.Connection[Any]) -> None:
    with pytest.raises(RestrictViolation):
        owner.execute("UPDATE orchestrator.audit_entry SET detail = NULL, salt = NULL")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE orchestrator.audit_entry SET detail = NULL, salt = NULL",
        "UPDATE orchestrator.audit_entry SET kind = 'x'",
        "INSERT INTO orchestrator.audit_entry DEFAULT VALUES",
        "UPDATE orchestrator.request_instance SET audit_sequence = 1, data = '{}'",
        "UPDATE orchestrator.request_instance SET revision = 9",
        "UPDATE orchestrator.reconciliation_resolution SET evidence = '{}'",
        "SELECT data FROM orchestrator.request_instance",
        "SELECT initial_data FROM orchestrator.request_instance",
        "SELECT owner_subject FROM orchestrator.request_instance",
        "SELECT event_data FROM orchestrator.execution",
        "SELECT actor_snapshot FROM orchestrator.execution",
        "SELECT result FROM orchestrator.action_execution",
        "SELECT detail FROM orchestrator.audit_entry",
        "SELECT storage_document_id FROM orchestrator.document_reference",
        "SELECT evidence FROM orchestrator.reconciliation_resolution",
        "SELECT idempotency_key FROM orchestrator.request_creation",
        "SELECT detail FROM orchestrator.admin_audit",
        "CREATE TABLE orchestrator.more (id integer)",
        *(f"DELETE FROM orchestrator.{table}" for table in TABLES),
    ],
)
def test_the_retention_role_reads_nothing_personal_and_writes_nothing_by_itself(
    retention: psycopg.Connection[Any], statement: str
) -> None:
    with pytest.raises(InsufficientPrivilege):
        retention.execute(statement.encode())


def test_migrating_again_grants_what_has_been_revoked(database: TestDatabase) -> None:
    database.execute("REVOKE INSERT ON orchestrator.execution FROM orchestrator_runtime")
    migrate(database.migration_url)
    held = "SELECT has_table_privilege('orchestrator_runtime', 'orchestrator.execution', 'INSERT')"
    assert database.execute(held) == [(True,)]


def test_provisioning_again_changes_nothing(database: TestDatabase) -> None:
    provision_roles(database.superuser_url, LOGINS)
    database.execute(bootstrap_sql())
    with psycopg.connect(database.runtime_url) as connection:
        assert connection.execute("SELECT current_user").fetchone() == (RUNTIME,)


def test_provisioning_takes_back_what_a_login_was_given_beyond_its_duty(database: TestDatabase) -> None:
    # A login of its own: roles belong to every database of the server, and others are being tested.
    name = "orchestrator_test_overpowered"
    overpowered = Login(name=name, password="overpowered")
    database.execute(f"CREATE ROLE {name} REPLICATION")
    try:
        database.execute(f"GRANT pg_write_server_files, orchestrator_retention TO {name} WITH ADMIN OPTION")
        provision_roles(database.superuser_url, evolve(LOGINS, runtime=overpowered))
        assert database.execute(
            "SELECT rolreplication, ARRAY(SELECT roleid::regrole::text FROM pg_auth_members WHERE member = pg_roles.oid)"
            f" FROM pg_roles WHERE rolname = '{name}'"
        ) == [(False, ["orchestrator_runtime"])]
    finally:
        database.execute(f"DROP ROLE {name}")


def test_no_password_is_shown_by_a_login() -> None:
    assert "wonderland" not in repr(Login(name="alice", password="wonderland"))
