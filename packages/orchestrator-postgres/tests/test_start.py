"""Whether a process may serve from a database, and whether the database can take work."""

import pytest
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.reachability import DatabaseUnreachable
from orchestrator_postgres.readiness import unreadiness
from orchestrator_postgres.schema_revision import KNOWN_REVISIONS
from orchestrator_postgres.start_check import start_faults

NOWHERE = ConnectionSettings(
    url="postgresql://service:wonderland@127.0.0.1:1/nowhere", connect_timeout_seconds=1
)


async def test_the_runtime_role_may_start_on_a_migrated_database(database: TestDatabase) -> None:
    assert await start_faults(ConnectionSettings(url=database.runtime_url)) == ()


async def test_a_driver_qualified_url_is_taken_as_well(database: TestDatabase) -> None:
    url = database.runtime_url.replace("postgresql://", "postgresql+psycopg://")
    assert await start_faults(ConnectionSettings(url=url)) == ()


@pytest.mark.parametrize("role", ["superuser_url", "migration_url"])
async def test_a_role_that_may_too_much_may_not_start(database: TestDatabase, role: str) -> None:
    assert "The role owns the schema." in await start_faults(ConnectionSettings(url=getattr(database, role)))


async def test_nobody_may_start_before_the_first_migration(unmigrated_database: TestDatabase) -> None:
    first, *_ = await start_faults(ConnectionSettings(url=unmigrated_database.runtime_url))
    assert first == "The database has no orchestrator schema that this role can read: run the migrations."


async def test_an_older_schema_has_to_be_migrated_first(database: TestDatabase) -> None:
    database.execute("UPDATE orchestrator.alembic_version SET version_num = '0001'")
    (fault,) = await start_faults(ConnectionSettings(url=database.runtime_url))
    assert "run the migrations" in fault


async def test_a_database_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(DatabaseUnreachable, match="No database answers") as refusal:
        await start_faults(NOWHERE)
    assert "wonderland" not in f"{refusal.value}{NOWHERE}"


async def test_a_refused_login_is_told_from_a_database_that_does_not_answer(database: TestDatabase) -> None:
    url = database.runtime_url.replace(":runtime@", ":wonderland@")
    (fault,) = await start_faults(ConnectionSettings(url=url))
    assert fault.startswith("The database answers and can't be used with this URL")
    assert "wonderland" not in fault


async def test_the_schema_of_the_release_before_is_served_from(unmigrated_database: TestDatabase) -> None:
    migrate(unmigrated_database.migration_url, target=KNOWN_REVISIONS[-2])
    assert await start_faults(ConnectionSettings(url=unmigrated_database.runtime_url)) == ()


async def test_a_database_that_takes_work_is_ready(harness: PostgresHarness) -> None:
    assert await unreadiness(harness.engine) is None


async def test_a_database_that_does_not_answer_is_not_ready() -> None:
    async with PostgresEngine(NOWHERE, connections_min=0, checkout_timeout_seconds=0.1) as engine:
        assert await unreadiness(engine) == "the database does not answer"
