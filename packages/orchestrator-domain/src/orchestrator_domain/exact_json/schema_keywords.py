"""The vocabulary of JSON Schema draft 2020-12, and where schemas lie inside a schema."""

from collections.abc import Iterator
from typing import Final

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

_HOLDING_A_SCHEMA: Final = frozenset(
    (
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
_HOLDING_A_LIST: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_HOLDING_NAMED_SCHEMAS: Final = frozenset(("$defs", "dependentSchemas", "patternProperties", "properties"))
_ASSERTIONS: Final = frozenset(
    (
        "const",
        "dependentRequired",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "required",
        "type",
        "uniqueItems",
    )
)
_CORE_AND_ANNOTATIONS: Final = frozenset(
    (
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    )
)

KEYWORDS: Final = (
    _HOLDING_A_SCHEMA | _HOLDING_A_LIST | _HOLDING_NAMED_SCHEMAS | _ASSERTIONS | _CORE_AND_ANNOTATIONS
)


def subschemas(schema: JsonValue) -> Iterator[tuple[Pointer, JsonObject]]:
    """Yield the schema and every schema inside it that is an object, each with its place, outermost first.

    Values that merely look like schemas (in `const`, `default`, `properties` as a name) aren't taken for such.
    """
    pending: list[tuple[Pointer, JsonValue]] = [(Pointer.root(), schema)]
    while pending:
        place, found = pending.pop()
        if isinstance(found, dict):
            yield place, found
            pending.extend(reversed(list(_within(place, found))))


def _within(place: Pointer, schema: JsonObject) -> Iterator[tuple[Pointer, JsonValue]]:
    for keyword, value in schema.items():
        here = place.child(keyword)
        if keyword in _HOLDING_A_SCHEMA:
            yield here, value
        elif keyword in _HOLDING_A_LIST and isinstance(value, list):
            yield from ((here.child(index), item) for index, item in enumerate(value))
        elif keyword in _HOLDING_NAMED_SCHEMAS and isinstance(value, dict):
            yield from ((here.child(name), item) for name, item in value.items())
