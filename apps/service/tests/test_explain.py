"""`explain REQUEST`: what happened, what it waits for, which events it would take; values only where asked for."""

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from attrs import define
from tests.plugins.lending_past import FORBIDDEN_SHELF, lending_past
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId
from orchestrator_service.cli import main

FOUND: JsonObject = {"found": True, "shelf": "A1-personal"}
MISSING: JsonObject = {"found": False, "shelf": "B2-personal"}


@define(kw_only=True)
class Past:
    """A lent request, an open one, and one whose event waits for a worker."""

    database: TestDatabase
    capsys: pytest.CaptureFixture[str]
    lent: RequestId
    open: RequestId
    waiting: RequestId

    def explained(self, request_id: RequestId, *arguments: str) -> str:
        code = main(["explain", str(request_id), "--database", self.database.runtime_url, *arguments])
        assert code == 0
        return self.capsys.readouterr().out

    def object_of(self, request_id: RequestId, *arguments: str) -> Any:
        return json.loads(self.explained(request_id, "--format", "json", *arguments))

    def events(self, request_id: RequestId, *arguments: str) -> dict[str, list[str]]:
        return {each["event"]: each["obstacles"] for each in self.object_of(request_id, *arguments)["events"]}


@pytest.fixture
def past(database: TestDatabase, capsys: pytest.CaptureFixture[str]) -> Past:
    async def happen() -> Sequence[RequestId]:
        async with lending_past(database) as past:
            return [
                await past.request(MISSING, FOUND),
                await past.request(MISSING),
                await past.request({}),
            ]

    lent, left_open, waiting = asyncio.run(happen())
    return Past(database=database, capsys=capsys, lent=lent, open=left_open, waiting=waiting)


def test_an_ended_request_tells_its_timeline_and_waits_for_nothing(past: Past) -> None:
    told = past.object_of(past.lent)

    assert [entry["kind"] for entry in told["history"]] == [
        "REQUEST_CREATED",
        "EVENT_ACCEPTED",
        "TRANSITION_COMPLETED",
        "EVENT_ACCEPTED",
        "TRANSITION_COMPLETED",
    ]
    assert (told["history"][-1]["fromState"], told["history"][-1]["toState"]) == ("OPEN", "LENT")
    assert told["waitsFor"] == "Nothing: it has ended."
    assert past.events(past.lent) == {"CHECK": ["INVALID_EVENT"], "WITHDRAW": ["INVALID_EVENT"]}


def test_an_open_request_waits_for_an_event_and_tells_who_may_send_which(past: Past) -> None:
    told = past.object_of(past.open)
    assert told["waitsFor"] == "An event."
    assert told["events"][0] == {
        "event": "CHECK",
        "taken": True,
        "allowedRoles": ["CLERK"],
        "states": ["OPEN"],
        "obstacles": [],
    }
    assert past.events(past.open, "--roles", "VISITOR, AUDITOR")["CHECK"] == ["ACCESS_DENIED"]
    assert past.events(past.open, "--roles", "CLERK")["CHECK"] == []


def test_a_busy_request_names_what_blocks_it(past: Past) -> None:
    told = past.object_of(past.waiting)
    assert told["waitsFor"].startswith(f"Execution {told['activeExecutionId']} of CHECK waits for a worker")
    assert past.events(past.waiting)["WITHDRAW"] == ["REQUEST_BUSY"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            "status = 'RETRY_WAIT', error_code = 'PROVIDER_TIMEOUT', next_attempt_at = now() + interval '1 hour'",
            "is tried again, due in 3",
        ),
        (
            "status = 'RUNNING', lease_owner = 'w', lease_until = now() + interval '1 hour'",
            "is being run; its lease holds for 3",
        ),
        (
            "status = 'RUNNING', lease_owner = 'w', lease_until = now() - interval '1 hour'",
            "so any worker takes it over",
        ),
        (
            "status = 'RECONCILIATION_REQUIRED', error_code = 'OUTCOME_UNKNOWN'",
            "waits for an operator after OUTCOME_UNKNOWN: `orchestrator reconcile show",
        ),
        (
            "claims_without_progress = 7",
            "It was claimed 7 times without storing anything, and is ended after 20",
        ),
    ],
)
def test_what_is_waited_for_is_told_for_each_status(past: Past, change: str, told: str) -> None:
    past.database.execute(f"UPDATE orchestrator.execution SET {change} WHERE status = 'PENDING'")
    assert told in past.object_of(past.waiting)["waitsFor"]


def test_a_failure_is_told_with_its_code_and_nothing_of_what_failed(
    database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    async def happen() -> RequestId:
        async with lending_past(database) as past:
            return await past.request(MISSING, {"found": True, "shelf": FORBIDDEN_SHELF})

    failed = str(asyncio.run(happen()))
    assert main(["explain", failed, "--database", database.runtime_url]) == 0
    told = capsys.readouterr().out
    assert (
        "  An event; the last one failed after DATA_SCHEMA_VIOLATION, and left the request as it was." in told
    )
    assert re.search("EXECUTION_FAILED .* DATA_SCHEMA_VIOLATION$", told, re.MULTILINE)
    assert FORBIDDEN_SHELF not in told


def test_a_request_whose_flow_can_not_be_read_still_tells_what_happened(past: Past) -> None:
    past.database.execute("ALTER TABLE orchestrator.flow_definition DISABLE TRIGGER USER")
    past.database.execute("UPDATE orchestrator.flow_definition SET definition = definition - 'states'")

    told = past.object_of(past.open)
    assert [entry["kind"] for entry in told["history"]][-1] == "TRANSITION_COMPLETED"
    assert told["waitsFor"] == "A release that reads its flow version; this one takes no event."
    assert (told["flowFault"].split(":")[0], told["events"]) == ("FLOW_UNREADABLE", [])
    assert "waits for a worker" in past.object_of(past.waiting)["waitsFor"]
    assert past.explained(past.open).splitlines()[-1] == f"  none can be judged: {told['flowFault']}"


def test_what_was_asked_about_an_effect_in_doubt_is_told_with_the_next_question(past: Past) -> None:
    assert past.object_of(past.waiting)["probes"] is None
    in_doubt(past, next_question="1 hour")
    past.database.execute(
        "UPDATE orchestrator.execution SET claims_without_progress = 3 WHERE status = 'RETRY_WAIT'"
    )

    assert "without storing anything" not in past.object_of(past.waiting)["waitsFor"]
    told = past.object_of(past.waiting)["probes"]
    assert (told["action"], told["asked"], told["outcome"]) == ("look", 2, "NOT_FOUND")
    assert 3_000 < told["nextInSeconds"] <= 3_600
    assert "asked 2 times whether look happened, last answer NOT_FOUND at " in past.explained(past.waiting)
    assert "; next question in 3" in past.explained(past.waiting)


def test_where_nobody_asks_any_more_no_next_question_is_told(past: Past) -> None:
    in_doubt(past, next_question="1 hour")
    past.database.execute(
        "UPDATE orchestrator.execution SET status = 'RECONCILIATION_REQUIRED' WHERE status = 'RETRY_WAIT'"
    )
    assert past.object_of(past.waiting)["probes"]["nextInSeconds"] is None
    assert "next question" not in past.explained(past.waiting)


def in_doubt(past: Past, *, next_question: str) -> None:
    """Let the waiting execution's action be in doubt, after two questions that found nothing."""
    past.database.execute(
        "UPDATE orchestrator.execution SET status = 'RETRY_WAIT', error_code = 'PROVIDER_TIMEOUT',"
        f" next_attempt_at = now() + interval '{next_question}' WHERE status = 'PENDING'"
    )
    past.database.execute(
        "INSERT INTO orchestrator.action_execution (id, execution_id, action_id, status, attempt_count,"
        " external_idempotency_key, input_hash, effect, uncertain, started_at, finished_at)"
        " SELECT gen_random_uuid(), id, 'look', 'UNKNOWN', 1, id || ':look', repeat('0', 64),"
        " 'NON_IDEMPOTENT_WRITE', true, now(), now() FROM orchestrator.execution WHERE status = 'RETRY_WAIT'"
    )
    past.database.execute(
        "INSERT INTO orchestrator.audit_entry"
        " SELECT (jsonb_populate_record(entry, jsonb_build_object('id', gen_random_uuid(),"
        " 'sequence', entry.sequence + later, 'kind', 'EFFECT_PROBED',"
        ' \'detail\', \'{"action": "look", "probe": "NOT_FOUND"}\'::jsonb))).*'
        " FROM orchestrator.audit_entry AS entry CROSS JOIN generate_series(1, 2) AS later"
        " WHERE entry.kind = 'EVENT_ACCEPTED' AND entry.request_id = %s",
        past.waiting,
    )


def test_values_and_people_are_shown_only_where_asked_for(past: Past) -> None:
    for arguments in ([], ["--format", "json"]):
        shown = past.explained(past.lent, *arguments)
        assert not any(secret in shown for secret in ("A1-personal", "saw", "clerk-1", "FOUND"))
        detailed = past.explained(past.lent, "--details", *arguments)
        assert all(secret in detailed for secret in ("A1-personal", "saw", "clerk-1", "FOUND"))


def test_for_people_it_is_three_parts_in_lines(past: Past) -> None:
    lines = past.explained(past.open).splitlines()
    assert [line for line in lines[1:] if not line.startswith(" ")] == [
        "what happened",
        "what it waits for",
        "which events it would take",
    ]
    assert lines[-1] == "  WITHDRAW: taken from CLERK"
    assert past.explained(past.lent).splitlines()[-1] == (
        "  WITHDRAW: refused: INVALID_EVENT, the current state has no transition for it (it is sent in OPEN)"
    )


def test_an_erased_request_says_so(past: Past, environment: pytest.MonkeyPatch) -> None:
    environment.setenv("RETENTION_DATABASE_URL", past.database.retention_url)
    assert main(["retention", "run", "--request", str(past.open), "--open-requests", "--execute"]) == 0
    past.capsys.readouterr()

    told = past.object_of(past.open)
    assert told["waitsFor"] == "Nothing: its data has been erased."
    assert told["history"][0]["erased"]
    assert past.events(past.open)["CHECK"] == ["REQUEST_ERASED"]


@pytest.mark.parametrize(
    ("request_id", "told"),
    [
        ("01978c5e-0000-7000-8000-000000000001", "There is no such request."),
        ("seven", "The id of a request is a UUID."),
    ],
)
def test_what_is_no_request_is_told(
    request_id: str, told: str, database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", request_id, "--database", database.runtime_url]) == 2
    assert told in capsys.readouterr().err
