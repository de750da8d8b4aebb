"""What is said of schemas as sets of values is true, and nothing is said where it isn't known."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import compile_schema
from orchestrator_domain.exact_json.schema_excerpt import Excerpt, excerpt_at
from orchestrator_domain.exact_json.schema_sets import (
    admitted_values,
    surely_disjoint,
    surely_refuses,
    unsatisfiable_places,
)
from orchestrator_domain.testing.strategies import json_values

SHARED: Any = {
    "amount": {"type": "number", "minimum": 10},
    "box": {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}},
}


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        ({"type": "string", "enum": [1]}, {"": False}),
        ({"properties": {"a": {"minimum": 3, "maximum": 2, "type": "number"}}}, {"/properties/a": False}),
        ({"properties": {"a": False}}, {"/properties/a": True}),
        ({"allOf": [{"$ref": "urn:flow:schema:amount"}, {"type": "number", "maximum": 9}]}, {"": False}),
        (
            {"type": "number", "exclusiveMinimum": Decimal("0.1"), "maximum": Decimal("0.1")},
            {"": False},
        ),
        ({"type": "string", "pattern": "^a$"}, {}),
        (True, {}),
    ],
)
def test_places_that_admit_nothing_are_named(schema: Any, places: dict[str, bool]) -> None:
    assert unsatisfiable_places(schema, shared=SHARED) == places


def test_nothing_is_said_where_alternatives_are_too_many() -> None:
    choices: Any = [{"if": {"required": [f"a{n}"]}, "then": {"required": [f"b{n}"]}} for n in range(30)]

    assert unsatisfiable_places({"allOf": [*choices, False]}, shared={}) == {}
    assert admitted_values({"allOf": choices}, shared={}) is None
    assert not surely_disjoint([Excerpt(schema={"allOf": choices}), Excerpt(schema=False)], shared={})


def test_an_excerpt_is_found_through_properties_and_shared_schemas() -> None:
    schema: Any = {"properties": {"box": {"$ref": "urn:flow:schema:box"}}}

    found = excerpt_at(schema, ("box", "a"), SHARED)

    assert found == Excerpt(schema=SHARED["box"], place=Pointer.parse("/properties/a"))
    assert excerpt_at(schema, ("other",), SHARED) is None
    assert excerpt_at(schema, ("box", "a", "b"), SHARED) is None
    assert (
        excerpt_at({"$ref": "urn:flow:schema:loop"}, ("a",), {"loop": {"$ref": "urn:flow:schema:loop"}})
        is None
    )


def test_an_excerpt_keeps_its_own_references() -> None:
    text = excerpt_at({"$ref": "urn:flow:schema:box"}, ("a",), SHARED)
    assert text is not None

    assert surely_refuses(text, 7, shared=SHARED)
    assert not surely_refuses(text, "seven", shared=SHARED)
    assert surely_disjoint([text, Excerpt(schema={"type": "number"})], shared=SHARED)
    assert not surely_disjoint([text, Excerpt(schema={"type": ["number", "string"]})], shared=SHARED)


def test_what_another_schema_lost_is_a_schema_of_exactly_that() -> None:
    old = admitted_values({"type": "integer", "minimum": 0, "maximum": 9}, shared={})
    new = admitted_values({"type": "integer", "minimum": 3}, shared={})
    assert old is not None
    assert new is not None

    lost = compile_schema(old.without(new))

    assert [number for number in range(-2, 12) if lost.accepts(number)] == [0, 1, 2]
    assert new.without(new) is False


@given(
    st.sampled_from(
        [
            {"type": "number", "minimum": 0},
            {"type": "object", "required": ["a"]},
            {"enum": ["", 0, None]},
            {"type": ["array", "string"], "maxItems": 1},
            {"not": {"type": "object"}},
        ]
    ),
    st.sampled_from([{"type": "integer"}, {"type": "object", "maxProperties": 1}, {"const": 0}, True]),
    json_values(),
)
def test_a_difference_holds_what_the_one_takes_and_the_other_does_not(old: Any, new: Any, value: Any) -> None:
    one, other = admitted_values(old, shared={}), admitted_values(new, shared={})
    assert one is not None
    assert other is not None

    lost = one.without(other)

    if lost is not None:
        expected = compile_schema(old).accepts(value) and not compile_schema(new).accepts(value)
        assert compile_schema(lost).accepts(value) is expected
