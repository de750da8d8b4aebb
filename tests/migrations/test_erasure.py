"""The one door through which personal data is erased: who goes through it, when, and what it takes."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, InvalidParameterValue, RestrictViolation, UniqueViolation
from psycopg.types.json import Jsonb
from tests.migrations.rows import FLOW_ID, HASH, REQUEST_ID, UNKNOWN_ID, insert, insert_all
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import AuditEntryId, FlowId, RequestId, Subject


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
    b"SELECT orchestrator.erase_personal_data(%(id)s, 0, %(open)s, %(entry)s, %(actor)s, %(detail)s,"
    b" %(salt)s, %(detail_hash)s, %(content_hash)s)"
)


def told(*parts: str, **changes: Any) -> dict[str, Any]:
    """Return what the door is told of an erasure: an honest fact with its hashes, but for the changes."""
    detail: JsonObject = {"erased": [*parts], "run": str(UNKNOWN_ID), "rule": "ended", "reference": None}
    fact = AuditFact(
        id=AuditEntryId(UNKNOWN_ID),
        kind=AuditKind.PERSONAL_DATA_ERASED,
        actor=Subject(changes.get("actor", "system")),
        flow_id=FlowId(FLOW_ID),
        detail={**detail, **changes.pop("members", {})},
        salt=changes.get("salt", "5" * 32),
    )
    honest = {
        "id": REQUEST_ID,
        "open": True,
        "entry": fact.id,
        "actor": fact.actor,
        "detail": Jsonb(fact.detail),
        "salt": fact.salt,
        "detail_hash": fact.detail_hash(),
        "content_hash": fact.content_hash(RequestId(REQUEST_ID)),
    }
    return {**honest, **changes}


def erased(connection: psycopg.Connection[Any], *parts: str, open_allowed: bool = True) -> str:
    row = connection.execute(ERASE, told(*parts, open=open_allowed)).fetchone()
    assert row is not None
    return str(row[0])


def end(filled: TestDatabase) -> None:
    """Let the execution end, and the request know of the entry that its history has."""
    filled.execute("UPDATE orchestrator.execution SET status = 'FAILED'")
    filled.execute("UPDATE orchestrator.request_instance SET audit_sequence = 1, audit_head = %s", HASH)


@pytest.mark.parametrize("url", ["runtime_url", "migration_url"])
def test_only_the_retention_role_goes_through_the_door(filled: TestDatabase, url: str) -> None:
    with psycopg.connect(getattr(filled, url)) as connection, pytest.raises(InsufficientPrivilege):
        erased(connection, "HISTORY")


def test_a_request_that_an_execution_blocks_is_not_erased(retention: psycopg.Connection[Any]) -> None:
    assert erased(retention, "HISTORY") == "ACTIVE"


def test_a_request_short_of_an_end_state_is_erased_only_if_that_is_said(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    end(filled)
    assert erased(retention, "HISTORY", open_allowed=False) == "OPEN"
    assert erased(retention, "HISTORY") == "ERASED"


def test_nothing_is_erased_without_its_entry(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    end(filled)
    # The place of the next entry is taken.
    filled.execute(
        "UPDATE orchestrator.request_instance SET audit_sequence = 0, audit_head = repeat('0', 64)"
    )
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
    "changes",
    [
        {"detail_hash": HASH},
        {"content_hash": HASH},
        {"entry": UUID(int=98)},
        {"actor": "clerk"},
        {"salt": "somebody lives in Elm Street, 12"},
        {"members": {"name": "somebody"}},
        {"members": {"run": "somebody"}},
        {"members": {"rule": "some body"}},
        {"members": {"reference": {"name": "somebody"}}},
    ],
)
def test_an_erasure_can_not_be_recorded_as_anything_but_what_it_is(
    filled: TestDatabase, retention: psycopg.Connection[Any], changes: dict[str, Any]
) -> None:
    end(filled)
    with pytest.raises(RestrictViolation):
        retention.execute(ERASE, told("HISTORY", **changes))


def test_a_history_that_somebody_broke_keeps_nothing_from_being_erased(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    end(filled)
    filled.execute("UPDATE orchestrator.request_instance SET audit_head = repeat('e', 64)")
    assert erased(retention, "HISTORY") == "ERASED"


def test_nothing_is_called_behind_the_door(filled: TestDatabase, retention: psycopg.Connection[Any]) -> None:
    end(filled)
    with pytest.raises(InsufficientPrivilege):
        retention.execute(ERASE.replace(b"erase_personal_data", b"erase_behind_the_door"), told("HISTORY"))


@pytest.mark.parametrize("url", ["runtime_url", "migration_url"])
def test_nobody_else_records_an_erasure(filled: TestDatabase, url: str) -> None:
    entry = {"id": UNKNOWN_ID, "sequence": 2, "kind": "PERSONAL_DATA_ERASED", "actor_subject": "system"}
    with psycopg.connect(getattr(filled, url)) as connection, pytest.raises(RestrictViolation):
        insert(connection, "audit_entry", entry)


def test_no_name_that_the_caller_makes_runs_with_the_rights_of_the_owner(
    filled: TestDatabase, retention: psycopg.Connection[Any]
) -> None:
    retention.execute(_SAYS_WHO_IT_RUNS_AS)
    for name in _TYPE_NAMES:
        retention.execute(_BOOBY_TRAP.replace(b"NAME", name))
    said: list[str] = []
    retention.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    end(filled)

    assert erased(retention, "HISTORY", "EVIDENCE") == "ERASED"
    retention.execute(b"SELECT orchestrator.erased_parts(%s)", [REQUEST_ID])
    assert said == []


def test_every_function_looks_for_temporary_names_last(database: TestDatabase) -> None:
    paths = "SELECT DISTINCT proconfig FROM pg_proc WHERE pronamespace = 'orchestrator'::regnamespace"
    assert database.execute(paths) == [(["search_path=pg_catalog, pg_temp"],)]


_TYPE_NAMES = (b"text", b"jsonb", b"uuid", b"timestamptz")
_SAYS_WHO_IT_RUNS_AS = b"""
CREATE FUNCTION pg_temp.trap(value pg_catalog.anyelement) RETURNS pg_catalog.bool LANGUAGE plpgsql AS $$
BEGIN
  IF current_user <> session_user THEN
    RAISE WARNING 'This runs as %.', current_user;
  END IF;
  RETURN true;
END $$
"""
_BOOBY_TRAP = b"CREATE DOMAIN pg_temp.NAME AS pg_catalog.NAME CHECK (pg_temp.trap(VALUE))"


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
    end(filled)
    filled.execute(
        "UPDATE orchestrator.request_instance SET data = '{\"a\": 1}', initial_data = '{\"a\": 1}'"
    )
    filled.execute(
        "UPDATE orchestrator.execution SET event_data = '{\"a\": 1}',"
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
