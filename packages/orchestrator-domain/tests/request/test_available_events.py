"""What an actor may do now, and what an answer gives away."""

from typing import cast

import pytest
from attrs import evolve

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ExecutionId, Role, StateKey
from orchestrator_domain.request.available_events import EventsNow, available_events
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.examples import CLERK, draft_flow, flow_document, published, request_of
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

IDENTIFIERS = SequentialIdentifiers()
VISITOR = evolve(CLERK, roles=frozenset({Role("VISITOR")}))


def request(**data: JsonValue) -> Request:
    made = request_of(published(draft_flow(IDENTIFIERS)), IDENTIFIERS)
    return evolve(made, data=data or made.data)


def ready(document: JsonObject) -> ReadyFlow:
    return ReadyFlow(definition=read_flow(document))


def guarded(guard: JsonValue) -> ReadyFlow:
    """Return the example flow with a guard before CHECK."""
    document = flow_document()
    transitions = cast("list[JsonObject]", document["transitions"])
    return ready({**document, "transitions": [{**transitions[0], "guard": guard}, *transitions[1:]]})


def now(flow: ReadyFlow, of: Request, *, actor: Actor = CLERK) -> EventsNow:
    return available_events(of, flow, actor, active=None)


def named(found: EventsNow) -> tuple[list[str], list[str]]:
    return [each.event for each in found.available], [each.event for each in found.blocked]


def compared(path: str, literal: JsonValue, op: str = "EQ") -> JsonObject:
    return {"op": op, "left": {"path": path}, "right": {"literal": literal}}


def test_the_events_of_the_current_state_are_available_with_their_schemas_and_tasks() -> None:
    found = now(ready(flow_document()), request())
    assert named(found) == (["CHECK", "WITHDRAW"], [])
    check = found.available[0]
    assert check.input_schema == {"type": "object", "additionalProperties": False}
    assert [task.ui for task in check.tasks] == [{"component": "FORM", "title": "Check the item"}]


def test_a_terminal_state_offers_nothing() -> None:
    lent = evolve(request(), state=StateKey("LENT"))
    assert named(now(ready(flow_document()), lent)) == ([], [])


def test_an_actor_without_the_role_is_told_of_no_event() -> None:
    assert named(now(guarded(compared("/request/data/item", "drill")), request(), actor=VISITOR)) == ([], [])


def test_while_an_execution_blocks_the_request_only_that_is_said() -> None:
    busy = ExecutionId(IDENTIFIERS.uuid())
    found = available_events(request(), ready(flow_document()), CLERK, active=busy)
    assert found == EventsNow(blocked_by=busy)


@pytest.mark.parametrize(
    "guard",
    [
        compared("/request/data/item", "drill"),
        compared("/request/data/nothing", 1),
        compared("/actor/attributes/grade", 1),
    ],
    ids=["false", "absent", "absent-of-actor"],
)
def test_a_guard_that_is_false_and_one_that_fails_block_with_the_same_words(guard: JsonObject) -> None:
    found = now(guarded(guard), request())
    assert named(found) == (["WITHDRAW"], ["CHECK"])
    assert found.blocked[0].cause.value == "CONDITIONS_NOT_MET"


def test_a_guard_that_holds_leaves_the_event_available() -> None:
    assert named(now(guarded(compared("/request/data/item", "ladder")), request()))[0] == [
        "CHECK",
        "WITHDRAW",
    ]


@pytest.mark.parametrize(
    "guard",
    [
        compared("/event/data/amount", 5),
        {"op": "EXISTS", "arg": {"path": "/event/data/amount"}},
        {"op": "NOT", "arg": {"op": "EXISTS", "arg": {"path": "/event/data"}}},
        {"op": "IN", "left": {"literal": 1}, "right": {"path": "/event/data/list"}},
        {"op": "AND", "args": [compared("/request/data/item", "drill"), compared("/event/data/amount", 5)]},
        {"op": "OR", "args": [{"op": "NOT", "arg": compared("/event/data/amount", 5, "GT")}]},
    ],
    ids=["comparison", "exists", "not", "in", "and", "or"],
)
def test_a_guard_that_reads_the_event_leaves_it_available(guard: JsonObject) -> None:
    assert named(now(guarded(guard), request()))[0] == ["CHECK", "WITHDRAW"]


def test_a_schema_is_handed_out_with_everything_it_refers_to() -> None:
    shared: JsonObject = {
        "amount": {"type": "integer", "$ref": "urn:flow:schema:positive"},
        "positive": {"minimum": 1},
        "anything": True,
        "unused": {"type": "string"},
    }
    check: JsonObject = {
        "type": "object",
        "$defs": {"own": {"$ref": "urn:flow:schema:anything"}},
        "properties": {"amount": {"$ref": "urn:flow:schema:amount"}, "more": {"$ref": "#/$defs/own"}},
    }
    document = flow_document()
    events = cast("list[JsonObject]", document["events"])
    document = {**document, "schemas": shared, "events": [{**events[0], "inputSchema": check}, events[1]]}
    schema = now(ready(document), request()).available[0].input_schema
    assert isinstance(schema, dict)
    assert isinstance(schema["$defs"], dict)
    urns = {f"urn:flow:schema:{name}" for name in ("amount", "positive", "anything")}
    assert schema["$defs"].keys() == {"own"} | urns
    alone = _without_urn_references(schema)
    assert compile_schema(alone).accepts({"amount": 1, "more": None})
    assert not compile_schema(alone).accepts({"amount": 0})
    assert not compile_schema(alone).accepts({"amount": "1"})


def _without_urn_references(schema: JsonValue) -> JsonValue:
    """Rewrite references by name into references by place, as a reader that knows no `$id` would."""
    match schema:
        case dict():
            kept = {key: value for key, value in schema.items() if key not in ("$id", "$ref")}
            rewritten: JsonObject = {key: _without_urn_references(value) for key, value in kept.items()}
            if "$ref" in schema:
                reference = str(schema["$ref"])
                rewritten["$ref"] = f"#/$defs/{reference}" if reference.startswith("urn:") else reference
            return rewritten
        case list():
            return [_without_urn_references(element) for element in schema]
        case _:
            return schema
