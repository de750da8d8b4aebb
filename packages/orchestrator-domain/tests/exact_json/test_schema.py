import socket
from decimal import Decimal

import pytest
from hypothesis import given

from orchestrator_domain.exact_json.schema import (
    InvalidSchema,
    SchemaFaultCode,
    SchemaViolation,
    check_schema,
    compile_schema,
)
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue
from orchestrator_domain.testing.strategies import json_values, numbers

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def nested(levels: int) -> JsonValue:
    value: JsonValue = []
    for _ in range(levels - 1):
        value = [value]
    return value


def faults(schema: JsonValue, *shared_names: str) -> list[tuple[str, str]]:
    return [
        (fault.pointer, fault.code)
        for fault in check_schema(schema, shared=dict.fromkeys(shared_names, True))
    ]


# Checking a schema.


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {},
        {
            "$schema": DIALECT,
            "$id": "https://example.test/a",
            "title": "t",
            "description": "d",
            "$comment": "c",
        },
        {"$ref": "#/$defs/a%20b", "$defs": {"a b": {"$ref": "#there"}, "c": {"$anchor": "there"}}},
        {"properties": {"pattern": {"type": "string"}, "$ref": {"const": {"$ref": "http://example.test/"}}}},
        {"type": ["string", "null"], "pattern": "^[A-Z]{3}$", "format": "date"},
        {"multipleOf": Decimal("0.01"), "default": {"unheard": 1}, "examples": [{"format": "of"}]},
        {"items": {"$ref": "#"}},
    ],
)
def test_a_sound_schema_has_no_faults(schema: JsonValue) -> None:
    assert faults(schema) == []


@pytest.mark.parametrize(
    ("schema", "pointer", "code"),
    [
        ([], "", "NOT_A_SCHEMA"),
        (1, "", "NOT_A_SCHEMA"),
        ({"type": "integr"}, "/type", "NOT_A_SCHEMA"),
        ({"properties": {"a/b": {"minimum": "1"}}}, "/properties/a~1b/minimum", "NOT_A_SCHEMA"),
        ({"properties": {"01": {"minimum": "1"}}}, "/properties/01/minimum", "NOT_A_SCHEMA"),
        ({"required": ["a", "a"]}, "/required", "NOT_A_SCHEMA"),
        ({"$ref": 1}, "/$ref", "NOT_A_SCHEMA"),
        ({"$id": "::%%"}, "", "NOT_A_SCHEMA"),
        ({"$ref": "http://example.test/"}, "/$ref", "REMOTE_REFERENCE"),
        ({"$ref": "file:///etc/hosts"}, "/$ref", "REMOTE_REFERENCE"),
        ({"$ref": DIALECT}, "/$ref", "REMOTE_REFERENCE"),
        ({"$defs": {"a": {"$dynamicRef": "other.json"}}}, "/$defs/a/$dynamicRef", "REMOTE_REFERENCE"),
        ({"$ref": "urn:flow:schema:missing"}, "/$ref", "UNKNOWN_REFERENCE"),
        ({"$ref": "urn:flow:schema:known#/$defs/a"}, "/$ref", "UNKNOWN_REFERENCE"),
        ({"$ref": "#/$defs/a"}, "/$ref", "UNKNOWN_REFERENCE"),
        ({"$ref": "#nowhere"}, "/$ref", "UNKNOWN_REFERENCE"),
        ({"$ref": "#/~2"}, "/$ref", "UNKNOWN_REFERENCE"),
        ({"pattern": "(?=a)b"}, "/pattern", "UNSUPPORTED_PATTERN"),
        ({"pattern": "(?<!a)b"}, "/pattern", "UNSUPPORTED_PATTERN"),
        ({"pattern": "(a)\\1"}, "/pattern", "UNSUPPORTED_PATTERN"),
        ({"pattern": "(a"}, "/pattern", "UNSUPPORTED_PATTERN"),
        ({"pattern": "((a{100}){100}){100}"}, "/pattern", "UNSUPPORTED_PATTERN"),
        ({"patternProperties": {"(?=a)": True}}, "/patternProperties/(?=a)", "UNSUPPORTED_PATTERN"),
        ({"format": "colour"}, "/format", "UNKNOWN_FORMAT"),
        ({"anyOf": [True, {"requird": ["a"]}]}, "/anyOf/1/requird", "UNKNOWN_KEYWORD"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema", "UNSUPPORTED_DIALECT"),
        ({"items": {"$schema": "http://example.test/"}}, "/items/$schema", "UNSUPPORTED_DIALECT"),
        ({"items": {"$id": "a"}}, "/items/$id", "UNSUPPORTED_IDENTIFIER"),
        ({"$id": "urn:flow:schema:known"}, "/$id", "UNSUPPORTED_IDENTIFIER"),
        (nested(65), "", "SCHEMA_TOO_DEEP"),
    ],
)
def test_each_fault_is_told_with_its_place_and_code(schema: JsonValue, pointer: str, code: str) -> None:
    assert (pointer, code) in faults(schema, "known")


def test_all_faults_come_at_once() -> None:
    schema: JsonValue = {"type": 1, "format": "colour", "then": {"pattern": "(", "$ref": "x"}}
    assert {code for _, code in faults(schema)} == {
        "NOT_A_SCHEMA",
        "UNKNOWN_FORMAT",
        "UNSUPPORTED_PATTERN",
        "REMOTE_REFERENCE",
    }


def test_an_unknown_keyword_does_not_keep_a_schema_from_being_compiled() -> None:
    assert compile_schema({"x-note": 1, "type": "string"}).accepts("a")


@given(json_values())
def test_any_value_is_either_compiled_or_refused_for_a_fault_that_was_told(value: JsonValue) -> None:
    hindering = [code for _, code in faults(value) if code != SchemaFaultCode.UNKNOWN_KEYWORD]
    if hindering:
        with pytest.raises(InvalidSchema):
            compile_schema(value)
    else:
        compile_schema(value)


def test_a_refused_schema_names_the_place() -> None:
    with pytest.raises(InvalidSchema) as refusal:
        compile_schema({"items": {"type": "integr"}})
    assert (refusal.value.code, refusal.value.pointer) == ("INVALID_SCHEMA", "/items/type")


def test_a_faulty_shared_schema_is_refused() -> None:
    with pytest.raises(InvalidSchema):
        compile_schema({}, shared={"a": {"$ref": "http://example.test/"}})


def test_nothing_is_ever_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)  # noqa: FBT003 - the library's signature
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema"
        fetching: list[JsonValue] = [
            {"$ref": url},
            {"$schema": url},
            {"$id": url, "$ref": "other"},
            {"items": {"$schema": url}},
        ]
        for schema in fetching:
            assert check_schema(schema)
            with pytest.raises(InvalidSchema):
                compile_schema(schema)
        compile_schema({"$id": url, "$ref": "#/$defs/a", "$defs": {"a": True}}).accepts(1)
        with pytest.raises(BlockingIOError):
            server.accept()


# Holding values against a schema.


def test_shared_schemas_are_reached_by_name_from_anywhere() -> None:
    shared: JsonObject = {
        "person": {"type": "object", "properties": {"age": {"$ref": "urn:flow:schema:age"}}},
        "age": {"$ref": "#/$defs/years", "$defs": {"years": {"type": "integer", "minimum": 0}}},
    }
    schema = compile_schema({"items": {"$ref": "urn:flow:schema:person"}}, shared=shared)
    assert schema.accepts([{"age": 3}])
    assert [violation.pointer for violation in schema.violations([{"age": -1}, {"age": "x"}])] == [
        "/0/age",
        "/1/age",
    ]


@pytest.mark.parametrize(
    ("schema", "value", "violation"),
    [
        ({"required": ["a b"]}, {}, ("", "required", 'The member "a b" is missing.')),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            ("", "dependentRequired", 'The member "b" is missing.'),
        ),
        (
            {"properties": {"a": True}, "additionalProperties": False},
            {"a": 1, "secret": 2, "more": 3},
            ("", "additionalProperties", "The object has 2 members that the schema doesn't allow."),
        ),
        (
            {"properties": {"a": {"type": ["integer", "null"]}}},
            {"a": "secret"},
            ("/a", "type", "The value is not of type integer or null."),
        ),
        (
            {"enum": [1, Decimal("2.50"), "x", None, True]},
            "secret",
            ("", "enum", 'The value is none of 1, 2.5, "x", null, true.'),
        ),
        (
            {"enum": list(range(9))},
            10,
            ("", "enum", "The value is none of the 9 values that the schema lists."),
        ),
        ({"const": 5}, 7, ("", "const", "The value is not the one that the schema requires.")),
        ({"minimum": Decimal("0.10")}, 0, ("", "minimum", "The number is less than 0.1.")),
        (
            {"maximum": Decimal("0.12345678901234567890123")},
            1,
            ("", "maximum", "The number is greater than 0.12345678901234567890123."),
        ),
        ({"exclusiveMinimum": 10**30}, 1, ("", "exclusiveMinimum", "The number is not greater than 1e+30.")),
        ({"exclusiveMaximum": 1}, 1, ("", "exclusiveMaximum", "The number is not less than 1.")),
        (
            {"multipleOf": Decimal("0.01")},
            Decimal("0.001"),
            ("", "multipleOf", "The number is not a multiple of 0.01."),
        ),
        ({"minLength": 9}, "secret", ("", "minLength", "The string is shorter than 9 characters.")),
        ({"maxLength": 1}, "secret", ("", "maxLength", "The string is longer than 1 character.")),
        ({"minItems": 1}, [], ("", "minItems", "The array has fewer than 1 element.")),
        ({"maxItems": 1}, [1, 2], ("", "maxItems", "The array has more than 1 element.")),
        ({"minProperties": 1}, {}, ("", "minProperties", "The object has fewer than 1 member.")),
        ({"maxProperties": 0}, {"a": 1}, ("", "maxProperties", "The object has more than 0 members.")),
        ({"pattern": "^a"}, "secret", ("", "pattern", 'The string doesn\'t match the pattern "^a".')),
        ({"format": "date"}, "secret", ("", "format", 'The string is not in the format "date".')),
        (
            {"propertyNames": {"maxLength": 3}},
            {"secret": 1},
            ("", "propertyNames", "The object has a member whose name the schema doesn't allow."),
        ),
        (
            {"uniqueItems": True},
            [1, Decimal("1.0")],
            ("", "uniqueItems", "The array holds an element twice."),
        ),
        ({"items": False}, ["secret"], ("/0", "falseSchema", "The schema allows no value here.")),
        (
            {"anyOf": [{"const": 1}, {"const": 2}]},
            3,
            ("", "anyOf", "The value fits none of the alternatives."),
        ),
        ({"not": {"type": "string"}}, "secret", ("", "not", "The value fits a schema that it must not fit.")),
        (
            {"unevaluatedProperties": False},
            {"secret": 1},
            ("", "unevaluatedProperties", "The object has 1 member that the schema doesn't allow."),
        ),
        (
            {"unevaluatedItems": False},
            ["secret"],
            ("", "unevaluatedItems", "The array has 1 element that the schema doesn't allow."),
        ),
    ],
)
def test_a_violation_is_told_by_place_keyword_and_the_schema_alone(
    schema: JsonValue, value: JsonValue, violation: tuple[str, str, str]
) -> None:
    pointer, keyword, message = violation
    compiled = compile_schema(schema)
    assert compiled.violations(value) == (SchemaViolation(pointer=pointer, keyword=keyword, message=message),)
    assert not compiled.accepts(value)


@pytest.mark.parametrize("keyword", ["minContains", "maxContains"])
def test_counted_elements_are_told_by_the_keyword_that_counts(keyword: str) -> None:
    schema = compile_schema({"contains": {"type": "string"}, keyword: 2})
    value: JsonValue = ["a"] if keyword == "minContains" else ["a", "b", "c"]
    assert [violation.keyword for violation in schema.violations(value)] == [keyword]


@pytest.mark.parametrize("name", ["01", "+1", "1", "0", "-1", "a/b", "~", "\u0663", "9" * 30])
def test_a_place_is_exact_whatever_the_members_are_called(name: str) -> None:
    schema = compile_schema({"items": {"additionalProperties": {"items": {"type": "string"}}}})
    escaped = name.replace("~", "~0").replace("/", "~1")
    assert [violation.pointer for violation in schema.violations([{name: [1]}])] == [f"/0/{escaped}/0"]


@pytest.mark.parametrize("members", [{"1": "a", "01": 1}, {"": {"a": 1}, "a": {}}, {"": 1}])
def test_a_place_that_two_names_could_mean_is_the_object_that_holds_both(members: JsonObject) -> None:
    schema = compile_schema({"items": {"additionalProperties": {"type": "string"}}})
    assert {violation.pointer for violation in schema.violations(["a", members])} == {"/1"}


@pytest.mark.parametrize(
    ("schema", "value", "accepted"),
    [
        ({"type": "integer"}, Decimal("1.0"), True),
        ({"type": "integer"}, Decimal("1e100"), True),
        ({"type": "integer"}, True, False),
        ({"const": 1}, Decimal("1.0"), True),
        ({"const": [1]}, [True], False),
        ({"enum": [Decimal("1e2")]}, 100, True),
        ({"maximum": Decimal("0.1")}, Decimal("0.10000000000000000000000000001"), False),
        ({"maximum": 10**100}, 10**100 + 1, False),
        ({"multipleOf": Decimal("0.01")}, Decimal("19.99"), True),
        ({"multipleOf": 3}, 10**100, False),
        ({"uniqueItems": True}, [1, True], True),
        ({"format": "date"}, "2024-02-30", False),
    ],
)
def test_numbers_are_compared_exactly_and_formats_asserted(
    schema: JsonValue, value: JsonValue, *, accepted: bool
) -> None:
    assert compile_schema(schema).accepts(value) == accepted


@given(numbers(), numbers())
def test_a_bound_is_kept_exactly(number: int | Decimal, bound: int | Decimal) -> None:
    assert compile_schema({"maximum": bound}).accepts(number) == (number <= bound)
    assert compile_schema({"const": bound}).accepts(number) == (number == bound)


@given(json_values())
def test_there_are_violations_exactly_when_a_value_is_not_accepted(value: JsonValue) -> None:
    schema = compile_schema({"type": ["object", "array"], "maxProperties": 1, "items": {"type": "string"}})
    assert schema.accepts(value) == (not schema.violations(value))


def test_an_instance_is_taken_up_to_the_depth_limit_and_refused_beyond() -> None:
    schema = compile_schema({"type": "array", "items": {"$ref": "#"}})
    assert schema.accepts(nested(64))
    for levels in (65, 100_000):
        with pytest.raises(InexactJson):
            schema.accepts(nested(levels))
        with pytest.raises(InexactJson):
            schema.violations(nested(levels))


def test_references_in_a_circle_end() -> None:
    circle: JsonObject = {"a": {"$ref": "urn:flow:schema:b"}, "b": {"allOf": [{"$ref": "urn:flow:schema:a"}]}}
    assert compile_schema({"$ref": "urn:flow:schema:a"}, shared=circle).accepts(1)


def test_a_string_that_is_no_text_is_refused() -> None:
    schema = compile_schema({"type": "integer"})
    with pytest.raises(InexactJson):
        schema.violations(["\ud800"])


ALTERNATIVES: JsonObject = {
    "type": "object",
    "properties": {
        "sign in": {
            "oneOf": [
                {"properties": {"kind": {"const": "none"}}, "additionalProperties": False},
                {
                    "properties": {"kind": {"const": "key"}, "secret": {"type": "string"}},
                    "required": ["secret"],
                    "additionalProperties": False,
                },
            ]
        }
    },
    "additionalProperties": False,
}


def test_violations_of_configuration_name_foreign_members_inside_the_alternative_that_was_meant() -> None:
    value: JsonValue = {"sign in": {"kind": "key", "secrt": "x", "Ä": 1}, "other": 1}
    told = {(found.pointer, found.message) for found in compile_schema(ALTERNATIVES).named_violations(value)}
    assert told == {
        ("", 'The schema doesn\'t allow "other" here.'),
        ("/sign in", 'The member "secret" is missing.'),
        ("/sign in", 'The schema doesn\'t allow "secrt", "Ä" here.'),
    }


@pytest.mark.parametrize("kind", ["something else", 7])
def test_a_configuration_that_means_no_alternative_is_told_as_a_whole(kind: JsonValue) -> None:
    (told,) = compile_schema(ALTERNATIVES).named_violations({"sign in": {"kind": kind}})
    assert (told.pointer, told.keyword) == ("/sign in", "oneOf")


def test_sound_configuration_has_no_named_violations() -> None:
    assert compile_schema(ALTERNATIVES).named_violations({"sign in": {"kind": "none"}}) == ()
