"""Migrations from nothing, several at once, and what they leave behind."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import AsyncConnection
from tests.plugins.migrated_database import TestDatabase

import orchestrator_postgres
from orchestrator_postgres.migrate import MigrationFailed, migrate
from orchestrator_postgres.schema_revision import (
    HEAD_REVISION,
    KNOWN_REVISIONS,
    revision_fault,
    schema_revision,
)

TABLES: Mapping[str, int] = {
    "flow_definition": 12,
    "request_type": 4,
    "request_instance": 13,
    "execution": 23,
    "action_execution": 14,
    "document_reference": 9,
    "audit_entry": 14,
    "admin_audit": 9,
    "request_creation": 6,
    "reconciliation_resolution": 11,
}

SPECIFIED_INDEXES = {
    "uq_request_active_execution",
    "ix_execution_due",
    "ix_execution_lease",
    "ix_request_scope_state",
    "ix_audit_request",
}


def test_a_database_is_migrated_from_nothing(unmigrated_database: TestDatabase) -> None:
    done = migrate(unmigrated_database.migration_url)

    assert done.revision == HEAD_REVISION
    assert done.missing_roles == ()
    rows = unmigrated_database.execute(
        "SELECT table_name, count(*) FROM information_schema.columns"
        " WHERE table_schema = 'orchestrator' AND table_name <> 'alembic_version' GROUP BY table_name"
    )
    assert dict(rows) == TABLES


def test_five_migrators_at_once_all_succeed(unmigrated_database: TestDatabase) -> None:
    start = Barrier(5)

    def migrator(_: int) -> str:
        start.wait()
        return migrate(unmigrated_database.migration_url).revision

    with ThreadPoolExecutor(5) as threads:
        assert list(threads.map(migrator, range(5))) == [HEAD_REVISION] * 5


def test_migrating_again_changes_nothing(database: TestDatabase) -> None:
    before = database.execute("SELECT xmin::text, version_num FROM orchestrator.alembic_version")
    migrate(database.migration_url)
    assert database.execute("SELECT xmin::text, version_num FROM orchestrator.alembic_version") == before


def test_a_driver_qualified_url_is_taken_as_well(database: TestDatabase) -> None:
    url = database.migration_url.replace("postgresql://", "postgresql+psycopg://")
    assert migrate(url).revision == HEAD_REVISION


def test_the_migration_role_is_no_superuser_and_owns_everything(database: TestDatabase) -> None:
    owners = database.execute(
        "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'orchestrator'"
        " UNION SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'orchestrator'"
    )
    assert owners == [("orchestrator_test_migration",)]
    assert database.execute(
        "SELECT rolsuper FROM pg_roles WHERE rolname = 'orchestrator_test_migration'"
    ) == [(False,)]


def test_the_indexes_are_named_as_specified(database: TestDatabase) -> None:
    rows = database.execute("SELECT indexname FROM pg_indexes WHERE schemaname = 'orchestrator'")
    assert {str(row[0]) for row in rows} >= SPECIFIED_INDEXES


def test_the_known_revisions_are_those_of_the_package() -> None:
    package = Path(orchestrator_postgres.__file__).parent
    configuration = Config()
    configuration.set_main_option("script_location", str(package / "migrations"))
    configuration.set_main_option("path_separator", "os")
    found = [revision.revision for revision in ScriptDirectory.from_config(configuration).walk_revisions()]
    assert tuple(reversed(found)) == KNOWN_REVISIONS


async def test_the_runtime_role_can_read_the_revision(database: TestDatabase) -> None:
    async with await AsyncConnection.connect(database.runtime_url) as connection:
        assert await schema_revision(connection) == HEAD_REVISION


async def test_a_database_without_a_schema_has_no_revision(unmigrated_database: TestDatabase) -> None:
    async with await AsyncConnection.connect(unmigrated_database.runtime_url) as connection:
        assert await schema_revision(connection) is None


@pytest.mark.parametrize(
    ("revision", "sentence"),
    [
        (None, "The database has no orchestrator schema that this role can read: run the migrations."),
        (
            "0001",
            f"The schema is at revision 0001 and this version needs {HEAD_REVISION}: run the migrations.",
        ),
        (
            "9999",
            "The schema is at revision 9999, which this version does not know: deploy a newer version.",
        ),
        (HEAD_REVISION, None),
    ],
)
def test_a_start_on_another_revision_is_refused_with_what_to_do(
    revision: str | None, sentence: str | None
) -> None:
    assert revision_fault(revision) == sentence


def test_a_failed_revision_leaves_nothing_behind(unmigrated_database: TestDatabase) -> None:
    unmigrated_database.execute("CREATE TABLE orchestrator.execution (id integer)")
    with pytest.raises(MigrationFailed, match=r"relation .execution. already exists \(SQLSTATE 42P07\)"):
        migrate(unmigrated_database.migration_url)
    assert unmigrated_database.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'orchestrator'"
    ) == [("execution",)]


def test_the_runtime_role_can_not_migrate(unmigrated_database: TestDatabase) -> None:
    with pytest.raises(MigrationFailed, match="permission denied for schema orchestrator"):
        migrate(unmigrated_database.runtime_url)


def test_a_database_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(MigrationFailed, match="does not answer") as failed:
        migrate("postgresql://owner:wonderland@127.0.0.1:1/nowhere")
    assert "wonderland" not in str(failed.value)


def test_a_schema_from_a_newer_version_is_left_alone(database: TestDatabase) -> None:
    database.execute("UPDATE orchestrator.alembic_version SET version_num = '9999'")
    with pytest.raises(MigrationFailed, match="deploy a newer version"):
        migrate(database.migration_url)
    assert database.execute("SELECT version_num FROM orchestrator.alembic_version") == [("9999",)]


def test_a_migration_says_which_group_roles_got_nothing(
    unmigrated_database: TestDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orchestrator_postgres.migrate.GROUP_ROLES", ("orchestrator_runtime", "nobody_yet"))
    assert migrate(unmigrated_database.migration_url).missing_roles == ("nobody_yet",)


def test_tables_that_every_event_writes_to_are_vacuumed_long_before_a_fifth_of_them_is_dead(
    database: TestDatabase,
) -> None:
    rows = database.execute(
        "SELECT relname, option_value::float FROM pg_class, pg_options_to_table(reloptions)"
        " WHERE relnamespace = 'orchestrator'::regnamespace AND option_name = 'autovacuum_vacuum_scale_factor'"
    )
    assert dict(rows) == dict.fromkeys(("execution", "action_execution", "request_instance"), 0.02)
