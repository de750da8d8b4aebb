"""A stored version made ready to run."""

import pytest
from attrs import evolve

from orchestrator_domain.errors import FlowInvalid
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.ready import ready_flow
from orchestrator_domain.identifiers import ActionKey, EventKey, StateKey, TransitionKey
from orchestrator_domain.testing.examples import draft_flow, flow_document, published
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

STORED = published(draft_flow(SequentialIdentifiers()))
OPEN, CHECK = StateKey("OPEN"), EventKey("CHECK")


def test_a_pin_is_found_by_transition_and_action() -> None:
    ready = ready_flow(STORED)
    assert ready.contracts == {(TransitionKey("check"), ActionKey("lookup")): STORED.contracts[0]}


def test_a_document_that_can_not_be_read_any_more_is_told_with_its_findings() -> None:
    with pytest.raises(FlowInvalid) as fault:
        ready_flow(evolve(STORED, document={**STORED.document, "invented": 1}))
    assert [finding.pointer for finding in fault.value.findings] == ["/invented"]


def test_a_guard_and_a_schema_are_compiled_once() -> None:
    check, withdraw = _transitions()
    guard: JsonObject = {"op": "EXISTS", "arg": {"path": "/request/data/item"}}
    guarded: JsonObject = {**flow_document(), "transitions": [{**check, "guard": guard}, withdraw]}
    ready = ready_flow(evolve(STORED, document=guarded))
    guarded_transition, plain_transition = ready.definition.transitions
    assert ready.guard(guarded_transition) is not None
    assert ready.guard(guarded_transition) is ready.guard(guarded_transition)
    assert ready.guard(plain_transition) is None


def test_shared_schemas_hold_for_creation_data_event_and_task() -> None:
    shared: JsonObject = {"$ref": "urn:flow:schema:text"}
    document: JsonObject = {
        **flow_document(),
        "schemas": {"text": {"type": "object", "maxProperties": 0}},
        "creation": {"inputSchema": shared},
        "dataSchema": shared,
        "events": [{"key": "CHECK", "inputSchema": shared}, {"key": "WITHDRAW", "inputSchema": {}}],
        "tasks": [{"state": "OPEN", "event": "WITHDRAW", "ui": {}, "inputSchema": shared}],
    }
    ready = ready_flow(evolve(STORED, document=document))
    full: JsonObject = {"any": 1}
    for violations in (
        ready.creation_violations(full),
        ready.data_violations(full),
        ready.event_violations(OPEN, CHECK, full),
        ready.event_violations(OPEN, EventKey("WITHDRAW"), full),
    ):
        assert len(violations) == 1
    assert not ready.data_violations({})


def test_a_violation_that_event_and_task_agree_on_is_told_once() -> None:
    schema: JsonObject = {"type": "object", "required": ["note"]}
    document: JsonObject = {
        **flow_document(),
        "events": [{"key": "CHECK", "inputSchema": schema}, {"key": "WITHDRAW", "inputSchema": {}}],
        "tasks": [{"state": "OPEN", "event": "CHECK", "ui": {}, "inputSchema": schema}],
    }
    assert len(ready_flow(evolve(STORED, document=document)).event_violations(OPEN, CHECK, {})) == 1


def test_a_task_without_a_schema_asks_for_nothing_more_than_its_event() -> None:
    assert not ready_flow(STORED).event_violations(OPEN, CHECK, {})


def test_without_a_data_schema_any_object_will_do() -> None:
    assert not ready_flow(STORED).data_violations({"anything": [None]})


def _transitions() -> list[JsonObject]:
    found = flow_document()["transitions"]
    assert isinstance(found, list)
    return [transition for transition in found if isinstance(transition, dict)]
