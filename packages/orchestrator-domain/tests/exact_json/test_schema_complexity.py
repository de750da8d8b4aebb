"""Schemas that make too much work of one value, and those that only look as if they did."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from orchestrator_domain.exact_json.schema import InvalidSchema, check_schema, compile_schema
from orchestrator_domain.exact_json.schema_complexity import PARTS_MAX, is_too_complex


def doubled(levels: int) -> Any:
    """Return a chain in which each schema refers to the next one twice."""
    chain: dict[str, Any] = {
        f"n{level}": {"allOf": [{"$ref": f"#/$defs/n{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$ref": "#/$defs/n0", "$defs": {**chain, f"n{levels}": {"type": "object"}}}


def calls_of[Result](work: Callable[[], Result]) -> tuple[Result, int]:
    """Return what the work gives and how many calls it took: a measure that no load of the machine changes."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        return work(), calls
    finally:
        sys.setprofile(before)


def test_a_doubled_chain_is_refused_before_it_costs_anything() -> None:
    faults, calls = calls_of(lambda: check_schema(doubled(1_000)))

    assert [fault.code for fault in faults] == ["SCHEMA_TOO_COMPLEX"]
    assert calls < 1_000_000


def test_a_chain_is_taken_as_long_as_its_written_out_parts_are_few() -> None:
    assert check_schema(doubled(10)) == ()
    assert compile_schema(doubled(10)).accepts({})
    with pytest.raises(InvalidSchema):
        compile_schema(doubled(14))


def test_as_many_parts_as_allowed_are_taken_and_not_one_more() -> None:
    def wide(parts: int) -> Any:
        return {"anyOf": [{} for _ in range(parts - 1)]}

    assert not is_too_complex(wide(PARTS_MAX), {})
    assert is_too_complex(wide(PARTS_MAX + 1), {})


def test_a_chain_through_shared_schemas_is_counted_too() -> None:
    shared: Any = {
        f"n{level}": {"allOf": [{"$ref": f"urn:flow:schema:n{level + 1}"}] * 2} for level in range(30)
    }
    shared["n30"] = True

    assert [fault.code for fault in check_schema({"$ref": "urn:flow:schema:n0"}, shared=shared)] == [
        "SCHEMA_TOO_COMPLEX"
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"properties": {"a": {"$ref": "#"}}, "required": [key]} for key in ("b", "c")]},
        {
            "properties": {"a": {"$ref": "#"}},
            "patternProperties": {"^a": {"$ref": "#"}},
            "allOf": [{"additionalProperties": {"$ref": "#"}}],
        },
        {"items": {"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}, "$defs": {"n": {"$ref": "#"}}},
        {"allOf": [{"items": {"$ref": "#"}}, {"contains": {"$ref": "#"}}]},
    ],
)
def test_recursion_that_doubles_at_each_level_is_refused(schema: Any) -> None:
    assert [fault.code for fault in check_schema(schema)] == ["SCHEMA_TOO_COMPLEX"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}},
        {"type": "object", "additionalProperties": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}},
        {"prefixItems": [{"$ref": "#"}, {"$ref": "#"}], "items": {"$ref": "#"}},
        {
            "oneOf": [
                {"properties": {"not": {"$ref": "#"}}},
                {"properties": {"all": {"items": {"$ref": "#"}}}},
            ]
        },
        {"$anchor": "node", "properties": {"next": {"$ref": "#node"}}},
    ],
)
def test_recursion_that_goes_once_into_each_part_is_taken(schema: Any) -> None:
    assert check_schema(schema) == ()


def test_the_work_of_judging_grows_with_the_schema_and_not_with_its_square() -> None:
    def calls(parts: int) -> int:
        schema: Any = {"properties": {f"p{number}": {"$ref": "#"} for number in range(parts)}}
        return calls_of(lambda: is_too_complex(schema, {}))[1]

    assert calls(8_000) < 3 * calls(4_000)
