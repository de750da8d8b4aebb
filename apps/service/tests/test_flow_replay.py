"""`flow replay`: what a version that isn't published would have made of what really happened."""

import asyncio
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from tests.plugins.lending_past import FORBIDDEN_SHELF, lending_document, lending_past
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_service.cli import main

MISSING: JsonObject = {"found": False}
FOUND: JsonObject = {"found": True, "shelf": "A1", "copies": 3}
ALONE: JsonObject = {"found": True, "shelf": "A1", "copies": 1}
BREAKING: JsonObject = {"found": True, "shelf": FORBIDDEN_SHELF}
COPIES = "/decisions/0/rules/1/when/args/1/right/literal"

type Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def past(database: TestDatabase) -> TestDatabase:
    """A database: one lent at the second look, one lent, one failed, one withdrawn, one that waits, one not looked at."""

    async def happen() -> None:
        async with lending_past(database) as past:
            await past.request(MISSING, FOUND)
            await past.request(ALONE)
            await past.request(BREAKING)
            await past.request(None)
            await past.request({})
            await past.request()

    asyncio.run(happen())
    return database


@pytest.fixture
def replay(past: TestDatabase, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Change the flow's document, replay the past by it, and return the exit code and what was told."""

    def ran(change: Change, *arguments: str) -> tuple[int, Any]:
        document = deepcopy(lending_document(version=2))
        change(document)
        file = tmp_path / "v2.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        command = ["flow", "replay", "--database", past.runtime_url, "--flow", str(file), *arguments]
        code = main([*command] if "text" in arguments else [*command, "--format", "json"])
        said = capsys.readouterr()
        return code, said.out if "text" in arguments else json.loads(said.out or json.dumps(said.err))

    return ran


def same(_document: dict[str, Any]) -> None:
    """Change nothing."""


def only_with_two_copies(document: dict[str, Any]) -> None:
    """Lend what is there twice at least; what isn't counted is missing."""
    decision = document["decisions"][0]
    (found,) = decision["rules"]
    exists = {"op": "EXISTS", "arg": {"path": "/results/lookup/copies"}}
    copies = {"op": "GTE", "left": {"path": "/results/lookup/copies"}, "right": {"literal": 2}}
    uncounted = {"id": "uncounted", "when": {"op": "NOT", "arg": exists}, "output": "MISSING"}
    decision["hitPolicy"] = "FIRST"
    decision["rules"] = [uncounted, {**found, "when": {"op": "AND", "args": [found["when"], copies]}}]


def test_the_same_rules_would_change_nothing(replay: Callable[..., Any]) -> None:
    code, told = replay(same)

    assert code == 0
    assert (told["requests"], told["eventsCompared"], told["different"]) == (6, 5, 0)
    assert told["outcomes"] == {
        "DATA_SCHEMA_VIOLATION": {"before": 1, "after": 1},
        "FOUND": {"before": 2, "after": 2},
        "MISSING": {"before": 1, "after": 1},
        "withdraw": {"before": 1, "after": 1},
    }
    assert (told["transitions"], told["rules"], told["notCarried"], told["examples"]) == ([], [], {}, [])


def test_other_rules_are_told_by_transition_by_rule_and_with_examples(replay: Callable[..., Any]) -> None:
    code, told = replay(only_with_two_copies)

    assert (code, told["different"]) == (1, 1)
    assert told["transitions"] == [
        {"transitionId": "check", "before": "FOUND", "after": "MISSING", "count": 1}
    ]
    assert {"decision": "AVAILABILITY", "before": "found", "after": "(default)", "count": 1} in told["rules"]
    (example,) = told["examples"]
    assert (example["before"]["state"], example["after"]["state"]) == ("LENT", "OPEN")
    assert example["trace"][-1].endswith(": false")
    assert "is 1" not in json.dumps(example)


def test_values_are_told_only_when_they_are_asked_for(replay: Callable[..., Any]) -> None:
    _, told = replay(only_with_two_copies, "--show-values", "--format", "text")

    assert "check: FOUND → MISSING, 1 times" in told
    assert "lookup.copies is 1" in told


def test_requests_under_way_that_could_not_be_carried_are_told(replay: Callable[..., Any]) -> None:
    def rename(document: dict[str, Any]) -> None:
        document["transitions"][0]["id"] = "look"

    def demand(document: dict[str, Any]) -> None:
        document["dataSchema"] = {"type": "object", "required": ["deposit"]}
        document["creation"]["inputSchema"]["required"] = ["item", "deposit"]

    def close(document: dict[str, Any]) -> None:
        written = json.dumps(document).replace('"OPEN"', '"ASKED"')
        document.update(json.loads(written))

    assert replay(rename)[1]["notCarried"] == {"TRANSITION_MISSING": 1}
    assert replay(demand)[1]["notCarried"] == {"DATA_REFUSED": 3}
    code, told = replay(close)
    assert (code, told["notCarried"]) == (1, {"STATE_MISSING": 3})
    assert len(told["notCarriedExamples"]) == 3
    assert told["outcomes"]["STATE_MISSING"] == {"before": 0, "after": 5}


def test_an_action_that_nobody_recorded_leaves_its_events_untold(replay: Callable[..., Any]) -> None:
    def ask_more(document: dict[str, Any]) -> None:
        action = {**document["transitions"][0]["actions"][0], "id": "second", "resultKey": "second"}
        document["transitions"][0]["actions"].append(action)

    _, told = replay(ask_more)

    assert (told["untold"], told["eventsCompared"], told["different"]) == (4, 1, 0)


def test_events_before_a_moment_are_left_out(replay: Callable[..., Any]) -> None:
    assert replay(same, "--since", "2999-01-01")[1]["eventsCompared"] == 0
    assert replay(same, "--since", "2001-01-01T00:00Z")[1]["eventsCompared"] == 5
    assert replay(same, "--since", "yesterday")[0] == 2


def test_a_threshold_moves_the_shares_and_both_are_drawn(replay: Callable[..., Any], tmp_path: Path) -> None:
    chart = tmp_path / "impact.svg"

    vary = ("--vary", COPIES, "--values", "4,1,2", "--chart", str(chart))
    _, told = replay(only_with_two_copies, *vary)

    assert told["threshold"] == [
        {"value": 1, "outcomes": {"FOUND": 2, "MISSING": 2}},
        {"value": 2, "outcomes": {"FOUND": 1, "MISSING": 3}},
        {"value": 4, "outcomes": {"MISSING": 4}},
    ]
    drawn = ET.fromstring(chart.read_text(encoding="utf-8"))
    texts = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"FOUND", "MISSING", "withdraw", "before", "with the candidate"} <= set(texts)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}polyline"))) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("--vary", "/version", "--values", "1"),
        ("--vary", "no pointer", "--values", "1"),
        ("--vary", COPIES, "--values", "many"),
        ("--vary", COPIES),
        ("--chart", "/nowhere/at/all.svg"),
    ],
)
def test_what_can_not_be_used_ends_with_two(arguments: tuple[str, ...], replay: Callable[..., Any]) -> None:
    code, said = replay(only_with_two_copies, *arguments)

    assert (code, said.startswith("UNUSABLE_FILE: ")) == (2, True)


def test_a_past_that_does_not_come_out_as_recorded_is_told_and_not_compared(
    past: TestDatabase, replay: Callable[..., Any]
) -> None:
    past.execute(
        "SET session_replication_role = replica; UPDATE orchestrator.action_execution SET input_hash = "
        f"'{'0' * 64}' WHERE result ->> 'copies' = '1'"
    )
    _, told = replay(same)

    assert (told["requestsNotReplayable"], told["eventsCompared"]) == (1, 4)
