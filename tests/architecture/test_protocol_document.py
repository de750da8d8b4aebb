"""What docs/PROTOCOL.md says is shown by a test is shown by one that exists, and its moves are the code's."""

import re
from pathlib import Path

import pytest

from orchestrator_domain.execution.execution import LEGAL_MOVES, ExecutionStatus

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "PROTOCOL.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(test_\w+)`", DOCUMENT)))
_SOURCES = ("tests", "packages/*/tests", "apps/*/tests", "packages/*/src/*/testing/contracts")


def defined_tests() -> set[str]:
    """Return the name of every test function of the workspace and of the contract suites."""
    files = (file for pattern in _SOURCES for folder in ROOT.glob(pattern) for file in folder.rglob("*.py"))
    definition = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
    return {name for file in files for name in definition.findall(file.read_text(encoding="utf-8"))}


def test_the_document_names_tests() -> None:
    assert len(NAMED) > 20


def test_every_test_that_the_document_names_exists() -> None:
    assert set(NAMED) - defined_tests() == set()


@pytest.mark.parametrize("status", ExecutionStatus)
def test_the_diagram_shows_exactly_the_legal_moves_of_an_execution(status: ExecutionStatus) -> None:
    diagram = DOCUMENT.split("```mermaid")[1].split("```")[0]
    drawn = set(re.findall(rf"^\s*{status} --> (\w+)", diagram, re.MULTILINE))
    assert drawn == {move.value for move in LEGAL_MOVES[status]}
