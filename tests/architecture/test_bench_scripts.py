"""The scripts that the worker and the acceptance are measured beside write rows that their statements take."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from bench.script_checked_rows import CheckedRows
from bench.script_rows import ScriptRows

from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

_CLAIMED: Mapping[str, Any] = {
    "id": UUID(int=1),
    "request_id": UUID(int=2),
    "flow_id": UUID(int=3),
    "request_revision": 1,
    "request_data": {"item": "ladder"},
}
_FENCE = {"execution_id": UUID(int=1).hex, "request_id": UUID(int=2).hex, "owner": "script", "token": 1}


@pytest.mark.parametrize("kind", [ScriptRows, CheckedRows])
def test_every_row_of_a_script_can_be_sent(kind: type[ScriptRows]) -> None:
    rows = kind(SequentialIdentifiers(seed=1))
    execution = rows.execution(UUID(int=2))
    started = rows.started(_CLAIMED, _FENCE, 0)
    sent = [
        rows.event(UUID(int=2)),
        execution,
        rows.accepted(execution, UUID(int=3)),
        started,
        rows.succeeded(started, {"found": True}),
        rows.completed(_CLAIMED, 1),
        rows.ended(_FENCE),
    ]
    received = json.loads(rows.text(sent))
    ids = {UUID(row["request_id"]) for row in received}
    assert ids == {UUID(int=2)}
