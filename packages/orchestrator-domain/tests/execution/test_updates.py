"""Updates: computed from the accepted snapshot, applied to a copy."""

from copy import deepcopy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.decision.condition import LiteralOperand, PathOperand
from orchestrator_domain.decision.context import EvaluationContext, evaluation_context
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.updates import UpdateFault, updated_data
from orchestrator_domain.flow.definition import Update
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.strategies import json_objects, json_values

DATA: JsonObject = {"item": "ladder", "tags": ["a", {"deep": 1}], "nothing": None}


def test_without_updates_the_data_is_as_it_was() -> None:
    assert applied(DATA) == DATA


def test_a_member_is_replaced_and_another_added() -> None:
    updates = (literal("/item", "saw"), literal("/shelf", 3))
    assert applied(DATA, *updates) == {**DATA, "item": "saw", "shelf": 3}


def test_missing_parents_become_objects() -> None:
    assert applied({}, literal("/a/b/0", 1)) == {"a": {"b": {"0": 1}}}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/tags/0", ["b", {"deep": 1}]),
        ("/tags/1", ["a", "b"]),
        ("/tags/1/deep", ["a", {"deep": "b"}]),
        ("/tags/1/new/deeper", ["a", {"deep": 1, "new": {"deeper": "b"}}]),
    ],
)
def test_an_element_that_exists_is_replaced_or_written_into(target: str, expected: JsonValue) -> None:
    assert applied(DATA, literal(target, "b")) == {**DATA, "tags": expected}


@pytest.mark.parametrize(
    "target",
    ["/tags/2", "/tags/-", "/tags/00", "/tags/-1", "/tags/x", "/tags/0/x", "/item/x", "/nothing/x", "/new/-"],
)
def test_what_can_not_be_reached_is_refused_without_naming_a_value(target: str) -> None:
    fault = applied(DATA, literal(target, "marker"))
    assert isinstance(fault, UpdateFault)
    assert fault.pointer == target
    assert "marker" not in repr(fault)


def test_an_absent_value_is_refused_at_the_updates_target() -> None:
    fault = applied(DATA, path("/copy", "/event/data/absent"))
    assert fault == UpdateFault(pointer="/copy", reason="The update's value is absent.")


def test_null_is_a_value() -> None:
    assert applied({}, path("/copy", "/request/data/nothing"), context=context(DATA)) == {"copy": None}


def test_an_update_limited_to_other_outputs_is_left_out_even_if_its_value_is_absent() -> None:
    update = path("/copy", "/event/data/absent", outputs={"FOUND"})
    assert applied(DATA, update, output="MISSING") == DATA
    assert applied(DATA, update, output=None) == DATA


def test_an_update_limited_to_the_output_that_was_decided_applies() -> None:
    assert applied(DATA, literal("/item", "saw", outputs={"FOUND"}), output="FOUND") == {
        **DATA,
        "item": "saw",
    }


def test_no_update_sees_what_another_one_wrote() -> None:
    swap = (path("/left", "/request/data/right"), path("/right", "/request/data/left"))
    assert applied({"left": 1, "right": 2}, *swap) == {"left": 2, "right": 1}


def test_values_come_from_results_event_and_actor_too() -> None:
    updates = (
        path("/a", "/results/lookup/shelf"),
        path("/b", "/event/data/note"),
        path("/c", "/actor/subject"),
    )
    assert applied({}, *updates, context=context({})) == {"a": "A3", "b": "mind", "c": "clerk-1"}


TARGETS = st.lists(st.sampled_from(["a", "b", "0", "1", ""]), min_size=1, max_size=4)


@given(data=json_objects(), targets=st.lists(TARGETS, max_size=4), value=json_values())
def test_the_data_handed_in_stays_untouched(
    data: JsonObject, targets: list[list[str]], value: JsonValue
) -> None:
    before = deepcopy(data)
    applied(data, *(literal_at(tuple(tokens), value) for tokens in targets))
    assert data == before


@given(data=json_objects(), tokens=TARGETS, value=json_values())
def test_what_was_written_is_found_at_its_target_and_the_rest_is_as_it_was(
    data: JsonObject, tokens: list[str], value: JsonValue
) -> None:
    after = applied(data, literal_at(tuple(tokens), value))
    if isinstance(after, UpdateFault):
        return
    assert Pointer(tokens=tuple(tokens)).resolve(after) == value
    assert {key: after[key] for key in after if key != tokens[0]} == {
        key: data[key] for key in data if key != tokens[0]
    }


@given(data=json_objects(), tokens=TARGETS, value=json_values())
def test_writing_twice_is_writing_once(data: JsonObject, tokens: list[str], value: JsonValue) -> None:
    update = literal_at(tuple(tokens), value)
    once = applied(data, update)
    if not isinstance(once, UpdateFault):
        assert applied(once, update) == once


def context(data: JsonObject) -> EvaluationContext:
    return evaluation_context(
        request_data=data,
        event_data={"note": "mind"},
        actor=CLERK,
        results={"lookup": {"shelf": "A3"}},
    )


def applied(
    data: JsonObject, *updates: Update, output: str | None = "FOUND", context: EvaluationContext | None = None
) -> JsonObject | UpdateFault:
    return updated_data(data, updates, context or snapshot(data), output=output)


def snapshot(data: JsonObject) -> EvaluationContext:
    return context(data)


def literal(target: str, value: JsonValue, *, outputs: set[str] | None = None) -> Update:
    return Update(
        target=Pointer.parse(target),
        value=LiteralOperand(value=value),
        outputs=None if outputs is None else frozenset(outputs),
    )


def literal_at(tokens: tuple[str, ...], value: JsonValue) -> Update:
    return Update(target=Pointer(tokens=tokens), value=LiteralOperand(value=value))


def path(target: str, source: str, *, outputs: set[str] | None = None) -> Update:
    return Update(
        target=Pointer.parse(target),
        value=PathOperand(pointer=Pointer.parse(source)),
        outputs=None if outputs is None else frozenset(outputs),
    )
