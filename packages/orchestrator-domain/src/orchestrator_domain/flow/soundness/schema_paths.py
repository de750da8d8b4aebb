"""Whether a JSON Schema lets anything be at a path."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.document.reading import nearest

_SHARED_PREFIX: Final = "urn:flow:schema:"
_REFERENCES_MAX: Final = 32


@frozen(kw_only=True)
class ImpossiblePath:
    """The schema lets nothing be at the path; `near` is a known name like the one that isn't."""

    near: str | None = None


def impossible_path(
    schema: JsonValue, tokens: tuple[str, ...], shared: Mapping[str, JsonValue]
) -> ImpossiblePath | None:
    """Say that nothing can be at the path, or None where it can be or where that isn't decided here.

    Followed are `properties` with `additionalProperties: false`, `type`, and whole references to shared schemas; all
    other keywords could only forbid more.
    """
    for index, token in enumerate(tokens):
        schema = _followed(schema, shared)
        if schema is False:
            return ImpossiblePath()
        if not isinstance(schema, dict):
            return None
        if not _may_contain(schema.get("type")):
            return ImpossiblePath()
        step = _step(schema, token)
        if isinstance(step, ImpossiblePath) or index == len(tokens) - 1:
            return step if isinstance(step, ImpossiblePath) else _forbidden(step)
        schema = step
    return None


def _forbidden(schema: JsonValue) -> ImpossiblePath | None:
    return ImpossiblePath() if schema is False else None


def _followed(schema: JsonValue, shared: Mapping[str, JsonValue]) -> JsonValue:
    for _ in range(_REFERENCES_MAX):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            return schema
        schema = shared.get(reference.removeprefix(_SHARED_PREFIX), True)
    return True


def _may_contain(declared: JsonValue) -> bool:
    types = declared if isinstance(declared, list) else [declared]
    return declared is None or "object" in types or "array" in types


def _step(schema: JsonObject, token: str) -> JsonValue | ImpossiblePath:
    types = schema.get("type")
    if types != "object" and "properties" not in schema:
        return True
    known = schema.get("properties", {})
    if isinstance(known, dict) and token in known:
        return known[token]
    if "patternProperties" in schema or not isinstance(known, dict):
        return True
    if schema.get("additionalProperties") is False and types == "object":
        return ImpossiblePath(near=nearest(token, known))
    return schema.get("additionalProperties", True)
