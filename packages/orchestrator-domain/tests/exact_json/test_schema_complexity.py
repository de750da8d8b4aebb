"""Schemas that make too much work of one value, and those that only look as if they did."""

from time import perf_counter
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


def test_a_doubled_chain_is_refused_before_it_costs_anything() -> None:
    started = perf_counter()

    assert [fault.code for fault in check_schema(doubled(1_000))] == ["SCHEMA_TOO_COMPLEX"]
    assert perf_counter() - started < 1


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


def test_even_very_many_recursive_parts_are_judged_quickly() -> None:
    schema: Any = {"properties": {f"p{number}": {"$ref": "#"} for number in range(9_000)}}
    started = perf_counter()

    is_too_complex(schema, {})

    assert perf_counter() - started < 2
