"""From a command and the active flow to a new request."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import (
    AccessDenied,
    DataTooLarge,
    InvalidInput,
    OrchestratorError,
    ScopeRequired,
)
from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import (
    BusinessScope,
    FlowId,
    FlowKey,
    IdempotencyKey,
    RequestId,
    RequestTypeKey,
    Sha256Hex,
)
from orchestrator_domain.request.creation import (
    CreateRequestCommand,
    chosen_scope,
    created_request,
    creation_hash,
)
from orchestrator_domain.request.request import FlowReference, Request
from orchestrator_domain.testing.examples import CLERK, flow_document
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

NORTH, SOUTH = BusinessScope("NORTH"), BusinessScope("SOUTH")
TRAVELLER = evolve(CLERK, scopes=frozenset({NORTH, SOUTH}))
IDENTIFIERS = SequentialIdentifiers()
REFERENCE = FlowReference(
    id=FlowId(IDENTIFIERS.uuid()), key=FlowKey("LENDING"), version=1, checksum=Sha256Hex("a" * 64)
)
REQUEST_ID = RequestId(IDENTIFIERS.uuid())
MARKER = "marker-7c1"


def test_the_only_scope_of_an_actor_need_not_be_named() -> None:
    assert chosen_scope(command(), CLERK) == NORTH


@pytest.mark.parametrize("scope", [NORTH, SOUTH])
def test_one_of_several_scopes_is_chosen_by_name(scope: BusinessScope) -> None:
    assert chosen_scope(command(scope=scope), TRAVELLER) == scope


@pytest.mark.parametrize("scopes", [frozenset(), frozenset({NORTH, SOUTH})])
def test_without_exactly_one_scope_one_must_be_named(scopes: frozenset[BusinessScope]) -> None:
    with pytest.raises(ScopeRequired) as refusal:
        chosen_scope(command(), evolve(CLERK, scopes=scopes))
    assert refusal.value.pointer == "/businessScope"


@pytest.mark.parametrize("actor", [CLERK, evolve(CLERK, scopes=frozenset[BusinessScope]())])
def test_a_scope_that_the_actor_does_not_hold_is_denied(actor: Actor) -> None:
    with pytest.raises(AccessDenied):
        chosen_scope(command(scope=SOUTH), actor)


def test_a_new_request_is_in_its_flows_initial_state_and_owned_by_its_actor() -> None:
    assert create({"item": "ladder"}) == Request(
        id=REQUEST_ID,
        type_key=RequestTypeKey("LENDING"),
        flow=REFERENCE,
        state=flow().definition.initial_state,
        data={"item": "ladder"},
        owner=CLERK.subject,
        scope=NORTH,
    )


@pytest.mark.parametrize(
    ("data", "pointer"),
    [({}, "/data"), ({"item": 7}, "/data/item"), ({"item": "x", "deposit": -1}, "/data/deposit")],
)
def test_data_outside_the_creation_schema_is_refused_at_its_place(data: JsonObject, pointer: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        create(data)
    assert refusal.value.pointer == pointer
    assert [place for place, _ in refusal.value.violations] == [pointer]


def test_a_caller_can_not_write_what_only_the_flow_may_write() -> None:
    with pytest.raises(InvalidInput):
        create({"item": "ladder", "lookup": {"found": True}})


def test_the_data_schema_holds_from_the_beginning() -> None:
    with pytest.raises(InvalidInput) as refusal:
        create({"item": "ladder"}, dataSchema={"type": "object", "required": ["deposit"]})
    assert refusal.value.pointer == "/data"


def test_without_a_creation_schema_what_no_update_writes_may_be_given() -> None:
    assert create({"anything": [1]}, creation=None).data == {"anything": [1]}


@pytest.mark.parametrize(
    ("target", "data", "refused"),
    [
        ("/lookup", {"lookup": None}, True),
        ("/lookup", {"lookupX": 1}, False),
        ("/lookup/found", {"lookup": {"found": False}}, True),
        ("/lookup/found", {"lookup": {"shelf": 1}}, False),
        ("/list/0", {"list": [1]}, True),
        ("/list/0", {"list": []}, False),
    ],
)
def test_without_a_creation_schema_what_an_update_writes_is_refused(
    target: str, data: JsonObject, *, refused: bool
) -> None:
    changed: dict[str, Any] = {"creation": None, "transitions": transitions_writing(target)}
    if not refused:
        assert create(data, **changed).data == data
        return
    with pytest.raises(InvalidInput) as refusal:
        create(data, **changed)
    assert refusal.value.pointer == f"/data{target}"


def test_a_role_may_be_needed_to_create() -> None:
    creation: JsonObject = {"inputSchema": {"type": "object"}, "allowedRoles": ["MANAGER"]}
    with pytest.raises(AccessDenied):
        create({}, creation=creation)
    assert create({}, creation={**creation, "allowedRoles": ["MANAGER", "CLERK"]}).owner == CLERK.subject


def test_the_role_is_asked_for_before_the_data_is_judged() -> None:
    with pytest.raises(AccessDenied):
        create({}, creation={"inputSchema": {"required": ["item"]}, "allowedRoles": ["MANAGER"]})


def test_data_may_be_as_large_as_its_limit_and_not_a_byte_larger() -> None:
    data: JsonObject = {"item": "escaleña"}
    size = len(canonical_bytes(data))
    assert create(data, limits=FlowLimits(data_bytes_max=size)).data == data
    with pytest.raises(DataTooLarge) as refusal:
        create(data, limits=FlowLimits(data_bytes_max=size - 1))
    assert refusal.value.pointer == "/data"


def test_the_hash_tells_type_and_data_apart_and_nothing_else() -> None:
    plain = creation_hash(command(data={"item": "x", "deposit": 1}))
    assert creation_hash(command(data={"deposit": parsed("1.0"), "item": "x"})) == plain
    assert creation_hash(evolve(command(data={"item": "x", "deposit": 1}), scope=NORTH)) == plain
    assert creation_hash(command(data={"item": "x", "deposit": 2})) != plain
    other_type = evolve(command(data={"item": "x", "deposit": 1}), type_key=RequestTypeKey("OTHER"))
    assert creation_hash(other_type) != plain


@given(
    data=st.dictionaries(
        st.sampled_from(["item", "deposit", "lookup", "more"]),
        st.sampled_from([MARKER, [MARKER], {"deep": MARKER}, 4_711_815, None]),
    )
)
def test_no_refusal_quotes_a_value(data: JsonObject) -> None:
    for creation in (flow_document()["creation"], None):
        try:
            create(data, creation=creation, limits=FlowLimits(data_bytes_max=10))
        except OrchestratorError as refusal:
            told = (refusal.message, refusal.pointer, getattr(refusal, "violations", ()))
            assert MARKER not in repr(told)
            assert "4711815" not in repr(told)


def command(*, data: JsonObject | None = None, scope: BusinessScope | None = None) -> CreateRequestCommand:
    return CreateRequestCommand(
        type_key=RequestTypeKey("LENDING"),
        data=data if data is not None else {"item": "ladder"},
        scope=scope,
        key=IdempotencyKey("create-1"),
    )


def flow(**changed: JsonValue) -> ReadyFlow:
    """Return the lending flow with some members changed, or left out where None."""
    document: JsonObject = {
        key: member for key, member in {**flow_document(), **changed}.items() if member is not None
    }
    return ReadyFlow(definition=read_flow(document))


def create(data: JsonObject, *, limits: FlowLimits | None = None, **changed: JsonValue) -> Request:
    return created_request(
        command(data=data),
        CLERK,
        request_id=REQUEST_ID,
        scope=NORTH,
        reference=REFERENCE,
        flow=flow(**changed),
        limits=limits or FlowLimits(),
    )


def transitions_writing(target: str) -> list[JsonValue]:
    transitions = flow_document()["transitions"]
    assert isinstance(transitions, list)
    assert isinstance(transitions[0], dict)
    update: JsonObject = {"target": target, "value": {"literal": True}}
    return [{**transitions[0], "updates": [update]}, *transitions[1:]]


def parsed(text: str) -> JsonValue:
    return parse_json(text.encode())
