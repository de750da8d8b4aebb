"""The one door through which personal data is erased: who goes through it, when, and what it takes."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, InvalidParameterValue, UniqueViolation
from psycopg.types.json import Jsonb
from tests.migrations.rows import REQUEST_ID, UNKNOWN_ID, insert_all
from tests.plugins.migrated_database import TestDatabase


@pytest.fixture
def filled(database: TestDatabase) -> TestDatabase:
    """A database with a row in each table; the request's execution waits for a worker."""
    with psycopg.connect(database.runtime_url) as connection:
        insert_all(connection)
    return database


@pytest.fixture
def retention(filled: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(filled.retention_url, autocommit=True) as connection:
        yield connection


ERASE = (
    b"SELECT orchestrator.erase_personal_data(%(id)s, 0, %(open)s, %(entry)s, 'system', %(detail)s,"
    b" repeat('5', 32), repeat('b', 64), repeat('c', 64))"
)


def erased(connection: psycopg.Connection[Any], *parts: str, open_allowed: bool = True) -> str:
    detail = Jsonb({"erased": [*parts]})
    values = {"id": REQUEST_ID, "open": open_allowed, "entry": UNKNOWN_ID, "detail": detail}
    row = connection.execute(ERASE, values).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize("url", ["runtime_url", "migration_url"])
def test_only_the_retention_role_goes_through_the_door(filled: TestDatabase, url: str) -> None:
    with psycopg.connect(getattr(filled, url)) as connection, pytest.raises(InsufficientPrivilege):
        erased(connection, "HISTORY")


def test_a_request_that_an_execution_blocks_is_not_erased(retention: psycopg.Connection[Any]) -> None:
    assert erased(retention, "HISTORY") == "ACTIVE"


def test_a_request_short_of_an_end_state_is_erased_only_if_that_is_said(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    filled.execute("UPDATE orchestrator.execution SET status = 'FAILED'")
    filled.execute("UPDATE orchestrator.request_instance SET audit_sequence = 1")
    assert erased(retention, "HISTORY", open_allowed=False) == "OPEN"
    assert erased(retention, "HISTORY") == "ERASED"


def test_nothing_is_erased_without_its_entry(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    filled.execute("UPDATE orchestrator.execution SET status = 'FAILED'")
    # The place of the next entry is taken.
    filled.execute("UPDATE orchestrator.request_instance SET audit_sequence = 0")
    with pytest.raises(UniqueViolation):
        erased(retention, "HISTORY", "EVIDENCE")
    assert filled.execute(
        "SELECT entry.detail IS NULL, resolution.evidence = '{}'"
        " FROM orchestrator.audit_entry AS entry, orchestrator.reconciliation_resolution AS resolution"
    ) == [(False, False)]


def test_a_request_that_has_moved_on_is_left_alone(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    filled.execute("UPDATE orchestrator.request_instance SET revision = 1")
    assert erased(retention, "HISTORY") == "MOVED"


@pytest.mark.parametrize("parts", [(), ("EVERYTHING",), ("HISTORY", "EVERYTHING")])
def test_nothing_and_unknown_parts_are_refused(
    retention: psycopg.Connection[Any], parts: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidParameterValue):
        erased(retention, *parts)


@pytest.mark.parametrize(
    ("part", "gone"),
    [
        ("HISTORY", {"entries"}),
        ("REQUEST_DATA", {"data"}),
        ("INITIAL_DATA", {"initial"}),
        ("EVENT_DATA", {"event", "attributes"}),
        ("RESULTS", {"result", "reference"}),
        ("DOCUMENTS", {"document"}),
        ("EVIDENCE", {"evidence"}),
    ],
)
def test_a_part_takes_its_own_rows_and_no_others(
    filled: TestDatabase, retention: psycopg.Connection[Any], part: str, gone: set[str]
) -> None:
    filled.execute(
        "UPDATE orchestrator.request_instance SET audit_sequence = 1, data = '{\"a\": 1}', initial_data = '{\"a\": 1}'"
    )
    filled.execute(
        "UPDATE orchestrator.execution SET status = 'FAILED', event_data = '{\"a\": 1}',"
        ' actor_snapshot = \'{"subject": "clerk", "attributes": {"a": 1}}\''
    )
    filled.execute(
        "UPDATE orchestrator.action_execution SET result = '{\"a\": 1}', provider_reference = 'p-1'"
    )

    assert erased(retention, part) == "ERASED"

    (left,) = filled.execute(_LEFT)
    names = (
        "entries",
        "data",
        "initial",
        "event",
        "attributes",
        "result",
        "reference",
        "document",
        "evidence",
    )
    assert {name for name, kept in zip(names, left, strict=True) if not kept} == gone


_LEFT = """
SELECT
  (SELECT bool_and(detail IS NOT NULL AND salt IS NOT NULL) FROM orchestrator.audit_entry),
  request.data <> '{}', request.initial_data <> '{}', execution.event_data <> '{}',
  execution.actor_snapshot -> 'attributes' <> '{}', action.result IS NOT NULL, action.provider_reference IS NOT NULL,
  document.storage_document_id = 'photo-1', resolution.evidence <> '{}'
FROM orchestrator.request_instance AS request, orchestrator.execution, orchestrator.action_execution AS action,
  orchestrator.document_reference AS document, orchestrator.reconciliation_resolution AS resolution
"""
