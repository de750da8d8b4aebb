"""`audit verify`: what was recorded comes out again, and what was tampered with doesn't."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.plugins.lending_past import FORBIDDEN_SHELF, lending_past
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.recorded_requests import recorded_past
from orchestrator_service.cli import main

MISSING: JsonObject = {"found": False}
FOUND: JsonObject = {"found": True, "shelf": "A1"}
BREAKING: JsonObject = {"found": True, "shelf": FORBIDDEN_SHELF}
HISTORY = "orchestrator.audit_entry"


@pytest.fixture
def past(database: TestDatabase) -> TestDatabase:
    """A database in which one request was lent at the second look, one failed, one was withdrawn and one waits."""

    async def happen() -> None:
        async with lending_past(database) as past:
            await past.request(MISSING, FOUND)
            await past.request(BREAKING)
            await past.request(None)
            await past.request({})

    asyncio.run(happen())
    return database


@pytest.fixture
def verify(past: TestDatabase, capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, list[Any]]]:
    """Run the command; return the exit code and what it said, line by line."""

    def ran() -> tuple[int, list[Any]]:
        code = main(["audit", "verify", "--database", past.runtime_url, "--format", "json"])
        return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return ran


def tampered(past: TestDatabase, statement: str) -> None:
    """Change what can't be changed, as somebody could who owns the machine."""
    past.execute(f"SET session_replication_role = replica; {statement}")


def test_every_recorded_decision_comes_out_again(verify: Callable[[], tuple[int, list[Any]]]) -> None:
    assert verify() == (
        0,
        [{"requests": 4, "faulty": 0, "decisionsVerified": 4, "decisionsErased": 0, "requestsErased": 0}],
    )


def test_what_the_reader_of_the_past_meets_is_not_taken_for_a_fault_of_the_database(
    database: TestDatabase,
) -> None:
    async def look() -> None:
        async with recorded_past(ConnectionSettings(url=database.runtime_url, application_name="test")):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        asyncio.run(look())


def test_the_summary_for_people_says_the_same(past: TestDatabase, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "verify", "--database", past.runtime_url]) == 0
    assert capsys.readouterr().out == "4 requests, 0 of them faulty; 4 decisions are verified.\n"


def test_erased_detail_is_told_as_erased_and_not_as_verified(
    past: TestDatabase, verify: Callable[[], tuple[int, list[Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    past.execute(f"UPDATE {HISTORY} SET detail = NULL, salt = NULL WHERE to_state = 'LENT'")

    assert verify() == (
        0,
        [{"requests": 4, "faulty": 0, "decisionsVerified": 3, "decisionsErased": 1, "requestsErased": 0}],
    )
    main(["audit", "verify", "--database", past.runtime_url])
    assert "1 can't be, for what they rest on is erased" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("statement", "about"),
    [
        (f"DELETE FROM {HISTORY} WHERE to_state = 'LENT'", "The history ends before the head"),
        (
            f"UPDATE {HISTORY} SET to_state = 'OPEN' WHERE to_state = 'LENT'",
            "The link to the entry before it",
        ),
        (
            f"UPDATE {HISTORY} SET detail = jsonb_set(detail, '{{outcome}}', '\"X\"') WHERE to_state = 'LENT'",
            "The detail does not match its hash.",
        ),
        (
            (
                "UPDATE orchestrator.action_execution SET result = '{\"found\": false}'"
                " WHERE result ->> 'shelf' = 'A1'"
            ),
            "The transition ended in another state or outcome than it would now.",
        ),
        (
            (
                f"UPDATE orchestrator.action_execution SET input_hash = '{'0' * 64}'"
                " WHERE result ->> 'shelf' = 'A1'"
            ),
            "The run would end in CHECKPOINT_MISMATCH now.",
        ),
        (
            (
                "UPDATE orchestrator.action_execution SET result = '{\"found\": true}'"
                " WHERE result ->> 'shelf' = 'Z9'"
            ),
            "The run failed, and would complete its transition now.",
        ),
        (
            "UPDATE orchestrator.request_instance SET data = '{}' WHERE current_state = 'LENT'",
            "The data isn't what the recorded events lead to.",
        ),
        (
            "UPDATE orchestrator.request_instance SET current_state = 'OPEN' WHERE current_state = 'LENT'",
            "The state isn't the one that the recorded events lead to.",
        ),
    ],
)
def test_what_was_tampered_with_is_told_with_its_request(
    statement: str,
    about: str,
    past: TestDatabase,
    verify: Callable[[], tuple[int, list[Any]]],
) -> None:
    tampered(past, statement)

    code, said = verify()

    assert (code, said[-1]["faulty"]) == (1, 1)
    assert any(line["about"].startswith(about) for line in said[:-1])
    assert all(line["requestId"] for line in said[:-1])


def test_a_definition_that_was_changed_after_its_publication_is_told(
    past: TestDatabase, verify: Callable[[], tuple[int, list[Any]]]
) -> None:
    tampered(past, 'UPDATE orchestrator.flow_definition SET definition = definition || \'{"title": "x"}\'')

    code, said = verify()

    assert (code, said[-1]["faulty"]) == (1, 4)
    assert said[0]["about"].startswith("The pinned flow version doesn't have the checksum")


def test_verifying_changes_nothing(past: TestDatabase) -> None:
    before = past.execute(f"SELECT count(*), max(head) FROM {HISTORY}")
    assert main(["audit", "verify", "--database", past.runtime_url]) == 0
    assert past.execute(f"SELECT count(*), max(head) FROM {HISTORY}") == before


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        ("postgresql://nobody@127.0.0.1:1/none", 3, "DATABASE_UNREACHABLE: No database answers"),
        ("no URL", 2, "STORAGE_UNAVAILABLE: This URL can't be tried"),
    ],
)
def test_a_database_that_does_not_answer_is_told_from_a_wrong_url(
    url: str, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "verify", "--database", url]) == code
    assert capsys.readouterr().err.startswith(said)
