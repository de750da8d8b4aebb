"""A value that a schema takes, for people to look at."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import islice, product
from typing import Final

from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue

_CANDIDATES_MAX: Final = 400
_EACH_MAX: Final = 6
_DEPTH_MAX: Final = 6


def example_of(schema: JsonValue, accepts: Callable[[JsonValue], bool]) -> JsonValue | Absent:
    """Return a value that `accepts` takes, tried out from what the schema says; ABSENT if none was found."""
    candidates = islice(_candidates(schema, _DEPTH_MAX), _CANDIDATES_MAX)
    return next((value for value in candidates if accepts(value)), ABSENT)


def _candidates(schema: JsonValue, depth: int) -> Iterator[JsonValue]:
    if not isinstance(schema, dict) or depth == 0:
        yield from (None, {}, "", 0) if schema is not False else ()
        return
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        for branch in branches if isinstance(branches, list) else ():
            yield from islice(_candidates(_joined(schema, branch, keyword), depth - 1), _EACH_MAX * 4)
    if "const" in schema:
        yield schema["const"]
    listed = schema.get("enum")
    yield from listed if isinstance(listed, list) else ()
    types = schema.get("type", ["object", "string", "integer", "boolean", "null", "array"])
    for name in types if isinstance(types, list) else [types]:
        yield from _of_type(str(name), schema, depth)


def _joined(schema: JsonObject, branch: JsonValue, keyword: str) -> JsonValue:
    if not isinstance(branch, dict):
        return branch
    return {**{name: value for name, value in schema.items() if name != keyword}, **branch}


def _of_type(name: str, schema: JsonObject, depth: int) -> Iterator[JsonValue]:
    match name:
        case "object":
            yield from _objects(schema, depth)
        case "array":
            yield from _arrays(schema, depth)
        case "string":
            yield from _strings(schema)
        case "number" | "integer":
            yield from _numbers(schema)
        case "boolean":
            yield from (True, False)
        case "null":
            yield None
        case _:
            pass  # no type of JSON Schema


def _objects(schema: JsonObject, depth: int) -> Iterator[JsonValue]:
    named = schema.get("properties")
    properties = named if isinstance(named, dict) else {}
    needed = schema.get("required")
    required = [str(name) for name in needed] if isinstance(needed, list) else []
    with_one_more = [[*required, name] for name in properties if name not in required]
    for names in (required, *with_one_more, list(dict.fromkeys((*required, *properties)))):
        choices = [
            list(islice(_candidates(properties.get(name, True), depth - 1), _EACH_MAX)) for name in names
        ]
        for values in islice(product(*choices), _EACH_MAX * 4):
            found: JsonObject = dict(zip(names, values, strict=True))
            yield found
            yield {**found, "another": None}


def _arrays(schema: JsonObject, depth: int) -> Iterator[JsonValue]:
    least, most = _whole(schema.get("minItems"), 0), _whole(schema.get("maxItems"), 3)
    for length in dict.fromkeys((least, min(least + 1, most), most)):
        for item in islice(_candidates(schema.get("items", True), depth - 1), _EACH_MAX):
            yield [item] * min(length, 20)


def _strings(schema: JsonObject) -> Iterator[str]:
    least, most = _whole(schema.get("minLength"), 0), _whole(schema.get("maxLength"), 20)
    for length in dict.fromkeys((least, least + 1, most)):
        yield "a" * min(length, 300)
    yield from ("A", "a b", "2024-02-29", "00000000-0000-4000-8000-000000000000")


def _numbers(schema: JsonObject) -> Iterator[JsonValue]:
    for name, inwards in (("minimum", 1), ("maximum", -1), ("exclusiveMinimum", 1), ("exclusiveMaximum", -1)):
        bound = schema.get(name)
        if isinstance(bound, int | Decimal):
            yield from (bound, bound + inwards, bound + Decimal("0.5") * inwards)
    yield from (0, 1, -1)


def _whole(value: JsonValue, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
