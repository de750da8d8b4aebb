"""What restrictedData hides, and from whom."""

from copy import deepcopy

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, JsonObject, JsonValue
from orchestrator_domain.flow.definition import FlowDefinition, RestrictedPath
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.identifiers import Role
from orchestrator_domain.request.visibility import shown_data
from orchestrator_domain.testing.examples import CLERK, flow_document
from orchestrator_domain.testing.strategies import json_objects

AUDITOR = evolve(CLERK, roles=frozenset({Role("AUDITOR")}))
FLOW = read_flow(flow_document())
NOTE: JsonObject = {"by": "y", "text": "z"}
NOTES: list[JsonValue] = ["a", NOTE]
NOTES_WITHOUT_BY: list[JsonValue] = ["a", {"text": "z"}]
DATA: JsonObject = {"item": "ladder", "lender": {"name": "x", "desk": 4}, "notes": NOTES}


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/item", {"lender": DATA["lender"], "notes": DATA["notes"]}),
        ("/lender/name", {**DATA, "lender": {"desk": 4}}),
        ("/lender", {"item": "ladder", "notes": DATA["notes"]}),
        ("/notes/0", {**DATA, "notes": [None, NOTE]}),
        ("/notes/1/by", {**DATA, "notes": NOTES_WITHOUT_BY}),
        ("/notes/2", DATA),
        ("/notes/-", DATA),
        ("/absent/deeper", DATA),
        ("/item/deeper", DATA),
        ("", {}),
    ],
)
def test_a_restricted_part_is_cut_out_and_nothing_else(path: str, shown: JsonObject) -> None:
    assert shown_data(DATA, restricted(path), CLERK) == shown


def test_a_role_that_may_see_it_is_shown_everything() -> None:
    assert shown_data(DATA, restricted("/lender", "/notes"), AUDITOR) == DATA


def test_each_restriction_asks_for_its_own_roles() -> None:
    flow = evolve(
        FLOW, restricted_data=(*restricted("/item").restricted_data, restriction("/lender", "CLERK"))
    )
    assert shown_data(DATA, flow, CLERK) == {"lender": DATA["lender"], "notes": DATA["notes"]}
    assert shown_data(DATA, flow, AUDITOR) == {"item": "ladder", "notes": DATA["notes"]}


def test_several_restrictions_are_cut_out_one_after_the_other() -> None:
    assert shown_data(DATA, restricted("/notes/1", "/notes/1/by", "/lender/name"), CLERK) == {
        "item": "ladder",
        "lender": {"desk": 4},
        "notes": ["a", None],
    }


@given(data=json_objects(), tokens=st.lists(st.sampled_from(["a", "", "0", "1"]), min_size=1, max_size=4))
def test_a_hidden_part_can_not_be_found_and_the_data_stays_as_it_was(
    data: JsonObject, tokens: list[str]
) -> None:
    before = deepcopy(data)
    path = Pointer(tokens=tuple(tokens))
    hidden = path.resolve(shown_data(data, restricted(str(path)), CLERK))
    assert hidden in (ABSENT, None)
    assert data == before


def restricted(*paths: str) -> FlowDefinition:
    return evolve(FLOW, restricted_data=tuple(restriction(path, "AUDITOR") for path in paths))


def restriction(path: str, role: str) -> RestrictedPath:
    return RestrictedPath(path=Pointer.parse(path), allowed_roles=frozenset({Role(role)}))
