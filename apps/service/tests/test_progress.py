"""Long commands show how far they have come, to people alone."""

import asyncio
import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from tests.plugins.lending_past import lending_document, lending_past
from tests.plugins.migrated_database import TestDatabase

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_service.cli import main

SCORING = Path(__file__).parents[3] / "contracts" / "corpus" / "valid" / "scoring-minimo.json"
FOUND: JsonObject = {"found": True, "shelf": "A1"}

type Commands = dict[str, list[str]]


class Terminal(StringIO):
    """What a person looks at, as far as programs can tell."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def commands(database: TestDatabase, tmp_path: Path) -> Commands:
    """Two commands that read a past of two requests, and one that reads a file of two cases."""

    async def happen() -> None:
        async with lending_past(database) as past:
            await past.request(FOUND)
            await past.request(FOUND)

    asyncio.run(happen())
    flow = tmp_path / "flow.json"
    flow.write_text(json.dumps(lending_document(version=2)), encoding="utf-8")
    cases = tmp_path / "cases.jsonl"
    case = {"data": {"item": "saw"}, "events": [{"event": "WITHDRAW"}]}
    cases.write_text(f"{json.dumps(case)}\n" * 2, encoding="utf-8")
    rows = tmp_path / "scores.csv"
    rows.write_text("results/buro/score:number\n71\n60\n", encoding="utf-8")
    url = database.runtime_url
    return {
        "replay": ["flow", "replay", "--database", url, "--flow", str(flow)],
        "verify": ["audit", "verify", "--database", url],
        "decide": [
            *("flow", "decide", str(SCORING), "--decision", "RUTA_SCORING"),
            *("--rows", str(rows)),
        ],
        "simulate": ["flow", "simulate", str(flow), "--cases", str(cases)],
    }


@pytest.fixture
def said(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, StringIO], str]:
    """Runs a command that succeeds, and returns what it wrote to its standard error."""
    monkeypatch.setenv("TERM", "xterm")

    def run(name: str, stderr: StringIO) -> str:
        monkeypatch.setattr(sys, "stderr", stderr)
        assert main(commands[name]) == 0
        return stderr.getvalue()

    return run


def test_a_bar_is_shown_on_a_terminal_and_nothing_elsewhere(said: Callable[[str, StringIO], str]) -> None:
    for name, title in (
        ("replay", "requests"),
        ("verify", "requests"),
        ("simulate", "cases.jsonl"),
        ("decide", "scores.csv"),
    ):
        assert f"{title} " in said(name, Terminal())
        assert said(name, StringIO()) == ""


def test_a_bar_knows_how_far_it_has_to_go(said: Callable[[str, StringIO], str]) -> None:
    for name in ("replay", "verify", "simulate"):
        assert "100%" in said(name, Terminal())
