"""A schema that can be handed out: what it refers to lies inside it, by the rules of compound documents.

JSON Schema draft 2020-12, section 9.3: each shared schema becomes a member of `$defs` under its own `$id`, so that the
references stay as they were written and no reader has to fetch anything.
"""

from collections.abc import Iterator, Mapping

from orchestrator_domain.exact_json.schema_engine import SHARED_PREFIX
from orchestrator_domain.exact_json.schema_keywords import subschemas
from orchestrator_domain.exact_json.value import JsonObject, JsonValue


def bundled_schema(schema: JsonValue, shared: Mapping[str, JsonValue]) -> JsonValue:
    """Return the schema with every shared schema that it reaches; the schema itself if it reaches none."""
    reached = _reached(schema, shared)
    if not reached or not isinstance(schema, dict):
        return schema
    own = schema.get("$defs")
    definitions: JsonObject = {
        SHARED_PREFIX + name: _embedded(SHARED_PREFIX + name, shared[name]) for name in reached
    }
    return {**schema, "$defs": {**(own if isinstance(own, dict) else {}), **definitions}}


def _reached(schema: JsonValue, shared: Mapping[str, JsonValue]) -> dict[str, None]:
    reached: dict[str, None] = {}
    pending = [schema]
    while pending:
        for name in _references(pending.pop(), shared):
            if name not in reached:
                reached[name] = None
                pending.append(shared[name])
    return reached


def _references(schema: JsonValue, shared: Mapping[str, JsonValue]) -> Iterator[str]:
    for _, part in subschemas(schema):
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith(SHARED_PREFIX):
            name = reference.removeprefix(SHARED_PREFIX)
            if name in shared:
                yield name


def _embedded(identifier: str, schema: JsonValue) -> JsonObject:
    """Give a shared schema the name by which it is referred to; `true` and `false` can't hold one as they are."""
    if isinstance(schema, dict):
        return {**schema, "$id": identifier}
    return {"$id": identifier} if schema else {"$id": identifier, "not": {}}
