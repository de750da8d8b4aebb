"""The checks of hashes were replaced under running processes, and refuse what they refused before."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg.errors import CheckViolation, StringDataRightTruncation
from tests.migrations.rows import EXECUTION_ID, HASH, REQUEST_ID, UNKNOWN_ID, insert, insert_all
from tests.plugins.migrated_database import TestDatabase

from orchestrator_postgres.migrate import migrate
from orchestrator_postgres.schema_revision import HEAD_REVISION

_BEFORE = "0009"
_HASHES = [
    ("request_instance", "audit_head"),
    ("execution", "payload_hash"),
    ("action_execution", "input_hash"),
    ("audit_entry", "detail_hash"),
    ("audit_entry", "head"),
]
_CHECKS = """
SELECT conrelid::regclass::text, conname, convalidated FROM pg_constraint
WHERE contype = 'c' AND pg_get_constraintdef(oid) LIKE '%%length(%%a-f%%' ORDER BY 1, 2
"""
_OTHERS_THAT_WAIT = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%LOCK TABLE%'
"""


@pytest.fixture
def runtime(database: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the runtime role to a database with one row in each table; nothing of it is committed."""
    with psycopg.connect(database.runtime_url) as connection:
        insert_all(connection)
        yield connection
        connection.rollback()


@pytest.mark.parametrize(("table", "column"), _HASHES)
@pytest.mark.parametrize(
    "wrong", ["", HASH[:-1], HASH[:-1] + "F", HASH[:-1] + "g", HASH[:-1] + "\n", HASH[:-1] + " ", HASH + "0"]
)
def test_what_is_no_hash_is_refused(
    runtime: psycopg.Connection[Any], table: str, column: str, wrong: str
) -> None:
    with pytest.raises((CheckViolation, StringDataRightTruncation)):
        insert(runtime, table, {"id": UNKNOWN_ID, column: wrong})


def test_a_new_database_holds_valid_checks(database: TestDatabase) -> None:
    assert [(table, name, valid) for table, name, valid in database.execute(_CHECKS)] == [
        (f"orchestrator.{table}", f"{table}_{column}_check", True) for table, column in sorted(_HASHES)
    ]


def test_what_is_stored_is_not_read_again(unmigrated_database: TestDatabase) -> None:
    migrate(unmigrated_database.migration_url, target=_BEFORE)
    with psycopg.connect(unmigrated_database.runtime_url) as connection:
        insert_all(connection)
    migrate(unmigrated_database.migration_url)
    assert {valid for _, _, valid in unmigrated_database.execute(_CHECKS)} == {False}
    with psycopg.connect(unmigrated_database.runtime_url) as connection, pytest.raises(CheckViolation):
        connection.execute(
            "UPDATE orchestrator.request_instance SET audit_head = 'x' WHERE id = %s", (REQUEST_ID,)
        )
    # As an operator may do at leisure.
    for table, column in _HASHES:
        unmigrated_database.execute(
            f"ALTER TABLE orchestrator.{table} VALIDATE CONSTRAINT {table}_{column}_check"
        )
    assert {valid for _, _, valid in unmigrated_database.execute(_CHECKS)} == {True}


def test_whoever_holds_one_table_and_wants_another_is_let_through(
    unmigrated_database: TestDatabase,
) -> None:
    migrate(unmigrated_database.migration_url, target=_BEFORE)
    with psycopg.connect(unmigrated_database.runtime_url) as connection:
        insert_all(connection)
    with (
        ThreadPoolExecutor(1) as beside,
        psycopg.connect(unmigrated_database.runtime_url) as claiming,
    ):
        # As a claim does: executions first, then the requests, which the migration holds by then.
        claiming.execute(
            "UPDATE orchestrator.execution SET attempts = attempts WHERE id = %s", (EXECUTION_ID,)
        )
        migrating = beside.submit(migrate, unmigrated_database.migration_url)
        while unmigrated_database.execute(_OTHERS_THAT_WAIT) == [(0,)]:
            assert not migrating.done()
        claiming.execute(
            "UPDATE orchestrator.request_instance SET revision = revision WHERE id = %s", (REQUEST_ID,)
        )
        claiming.commit()
        assert migrating.result(60).revision == HEAD_REVISION
