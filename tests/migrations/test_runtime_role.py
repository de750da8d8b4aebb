"""How a start finds out about a role that may too much, and about guards that are switched off."""

from typing import Any

import pytest
from psycopg import AsyncConnection
from tests.plugins.migrated_database import LOGINS, TestDatabase

from orchestrator_postgres.runtime_role import check_guards, check_runtime_role

RUNTIME = LOGINS.runtime.name


async def _faults(url: str) -> list[str]:
    async with await AsyncConnection.connect(url) as connection:
        return await check_runtime_role(connection)


async def _faults_after(database: TestDatabase, statement: str) -> list[str]:
    """Judge the runtime role in a transaction that is undone: roles belong to all databases of the server."""
    async with await AsyncConnection.connect(database.superuser_url) as connection:
        await connection.execute(statement.encode())
        await connection.execute(f"SET LOCAL SESSION AUTHORIZATION {RUNTIME}".encode())
        faults = await check_runtime_role(connection)
        await connection.rollback()
    return faults


async def test_the_runtime_role_is_found_proper(database: TestDatabase) -> None:
    assert await _faults(database.runtime_url) == []


async def test_a_superuser_is_found_out(database: TestDatabase) -> None:
    faults = await _faults(database.superuser_url)
    assert "The role is a superuser." in faults
    assert "The role owns the schema." in faults
    assert "The role can delete from the table audit_entry." in faults


async def test_the_migration_role_is_found_out(database: TestDatabase) -> None:
    faults = await _faults(database.migration_url)
    assert "The role is a superuser." not in faults
    assert {
        "The role owns the schema.",
        "The role can create in the schema.",
        "The role owns the table flow_definition.",
        "The role can change version_num in the table alembic_version.",
        "The role can add rows to the table alembic_version.",
    } <= set(faults)


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            f"GRANT DELETE ON orchestrator.execution TO {RUNTIME}",
            "The role can delete from the table execution.",
        ),
        (
            f"GRANT UPDATE (detail) ON orchestrator.audit_entry TO {RUNTIME}",
            "The role can change detail in the table audit_entry.",
        ),
        (
            (
                "GRANT UPDATE (owner_subject, business_scope, flow_id, initial_data)"
                f" ON orchestrator.request_instance TO {RUNTIME}"
            ),
            "The role can change flow_id, initial_data, owner_subject, business_scope in the table request_instance.",
        ),
        (
            (
                "GRANT UPDATE (payload_hash, actor_snapshot, event_data) ON orchestrator.execution"
                " TO orchestrator_runtime"
            ),
            "The role can change payload_hash, actor_snapshot, event_data in the table execution.",
        ),
        (
            f"GRANT INSERT ON orchestrator.alembic_version TO {RUNTIME}",
            "The role can add rows to the table alembic_version.",
        ),
        (
            f"GRANT REFERENCES (id) ON orchestrator.execution TO {RUNTIME}",
            "The role can put references to the table execution.",
        ),
        (f"GRANT TRUNCATE ON orchestrator.execution TO {RUNTIME}", "The role can empty the table execution."),
        (
            f"GRANT TRIGGER ON orchestrator.execution TO {RUNTIME}",
            "The role can put triggers on the table execution.",
        ),
        (f"GRANT CREATE ON SCHEMA orchestrator TO {RUNTIME}", "The role can create in the schema."),
    ],
)
async def test_a_power_too_many_is_found_out(database: TestDatabase, statement: str, fault: str) -> None:
    database.execute(statement)
    assert await _faults(database.runtime_url) == [fault]


async def _guards_off(url: str) -> list[str]:
    async with await AsyncConnection.connect(url) as connection:
        return await check_guards(connection)


async def test_the_guards_of_a_migrated_database_are_on(database: TestDatabase) -> None:
    assert await _guards_off(database.runtime_url) == []


async def test_every_trigger_of_ours_is_a_guard(database: TestDatabase) -> None:
    ours = database.execute(_TRIGGERS)
    for name, table in ours:
        database.execute(f"ALTER TABLE orchestrator.{table} DISABLE TRIGGER {name}")
    assert ours
    assert sorted(await _guards_off(database.runtime_url)) == sorted(
        f"The guard {name} of the table {table} is missing or switched off." for name, table in ours
    )


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        (
            "DROP TRIGGER audit_entry_append_only ON orchestrator.audit_entry",
            "The guard audit_entry_append_only of the table audit_entry is missing or switched off.",
        ),
        (
            "ALTER TABLE orchestrator.admin_audit ENABLE REPLICA TRIGGER admin_audit_append_only",
            "The guard admin_audit_append_only of the table admin_audit is missing or switched off.",
        ),
        (
            "ALTER TABLE orchestrator.action_execution DISABLE TRIGGER ALL",
            "The foreign key action_execution_execution_id_fkey of the table action_execution is switched off.",
        ),
        (
            "ALTER DATABASE {database} SET session_replication_role = replica",
            (
                "Sessions of this role begin with session_replication_role = replica, so that no guard and no foreign"
                " key does its work."
            ),
        ),
    ],
)
async def test_a_guard_that_does_not_work_is_found_out(
    database: TestDatabase, statement: str, fault: str
) -> None:
    database.execute(statement.format(database=database.name))
    assert await _guards_off(database.runtime_url) == [fault]


@pytest.mark.parametrize(
    ("statement", "faults"),
    [
        (
            f"GRANT pg_execute_server_program TO {RUNTIME}",
            ["The role is a member of pg_execute_server_program."],
        ),
        (
            "GRANT pg_write_server_files TO orchestrator_runtime",
            ["The role is a member of pg_write_server_files."],
        ),
        (
            f"GRANT orchestrator_retention TO {RUNTIME} WITH INHERIT FALSE, SET FALSE",
            [
                "The role is a member of orchestrator_retention.",
                "The role can erase personal data.",
            ],
        ),
        (f"ALTER ROLE {RUNTIME} REPLICATION", ["The role can replicate."]),
    ],
)
async def test_a_role_s_membership_or_attribute_too_many_is_found_out(
    database: TestDatabase, statement: str, faults: list[str]
) -> None:
    assert await _faults_after(database, statement) == faults


async def test_who_has_logged_in_is_judged_whatever_role_it_acts_as(database: TestDatabase) -> None:
    acting = f"{database.superuser_url}?options=-c%20role%3Dorchestrator_runtime"
    assert "The role is a superuser." in await _faults(acting)


async def test_what_is_allowed_is_what_a_migration_grants(database: TestDatabase) -> None:
    def changeable() -> set[tuple[Any, ...]]:
        return set(database.execute(_CHANGEABLE))

    granted = changeable()
    database.execute("GRANT UPDATE ON ALL TABLES IN SCHEMA orchestrator TO orchestrator_runtime")
    told = {
        (table, column)
        for fault in await _faults(database.runtime_url)
        for columns, table in [fault.removeprefix("The role can change ").rstrip(".").split(" in the table ")]
        for column in columns.split(", ")
    }
    assert told == changeable() - granted
    assert told


_TRIGGERS = """
SELECT t.tgname, c.relname
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = 'orchestrator'::regnamespace AND NOT t.tgisinternal
"""
_CHANGEABLE = """
SELECT c.relname, a.attname
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'orchestrator'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
  AND has_column_privilege('orchestrator_runtime', c.oid, a.attnum, 'UPDATE')
"""
