"""Decisions of many rules, as flow documents and as definitions."""

from itertools import product
from typing import Any

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.flow.document import read_flow


def flow_with(rules: list[dict[str, Any]]) -> Any:
    """Return the smallest flow that holds these rules in its one decision."""
    return {
        "schemaVersion": 1,
        "flowKey": "F",
        "version": 1,
        "initialState": "A",
        "states": [{"key": "A", "terminal": False}, {"key": "B", "terminal": True}],
        "events": [{"key": "E", "inputSchema": True}],
        "transitions": [
            {
                "id": "t",
                "from": "A",
                "event": "E",
                "allowedRoles": ["R"],
                "decision": "D",
                "destinations": {"OUT": "B", "DEFAULT": "A"},
            }
        ],
        "decisions": [{"id": "D", "rules": rules, "defaultOutput": "DEFAULT"}],
    }


def rules_in_a_row(count: int) -> list[dict[str, Any]]:
    """Return rules over one path, each for the next interval of ten."""
    return [_rule(number, _between("/event/data/a", 10 * number)) for number in range(count)]


def rules_on_a_grid(a: int, b: int, c: int) -> list[dict[str, Any]]:
    """Return rules over three paths, one for each field of a grid."""
    fields = product(range(a), range(b), range(c))
    return [
        _rule(
            number,
            [
                condition
                for path, step in zip("abc", field, strict=True)
                for condition in _between(f"/event/data/{path}", 10 * step)
            ],
        )
        for number, field in enumerate(fields)
    ]


def decision_with(rules: list[dict[str, Any]]) -> DecisionDefinition:
    return read_flow(flow_with(rules)).decisions[0]


def _rule(number: int, conditions: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"r{number}", "when": {"op": "AND", "args": conditions}, "output": "OUT"}


def _between(path: str, low: int) -> list[dict[str, Any]]:
    return [
        {"op": "GT", "left": {"path": path}, "right": {"literal": low}},
        {"op": "LTE", "left": {"path": path}, "right": {"literal": low + 10}},
    ]
