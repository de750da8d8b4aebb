"""A part of a schema where it stands, with all that it leads to."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from attrs import field, frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema_engine import SHARED_PREFIX
from orchestrator_domain.exact_json.schema_graph import SchemaGraph
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

BRANCHES_MAX: Final = 40
_WEIGHTS: Final = {
    "anyOf": 1,
    "oneOf": 1,
    "not": 1,
    "if": 4,
    "dependentSchemas": 4,
}


@frozen(kw_only=True)
class Excerpt:
    """The subschema at a place of a schema, in which `#` still means the whole schema."""

    schema: JsonValue
    place: Pointer = field(factory=Pointer.root)


def excerpt_at(schema: JsonValue, tokens: Sequence[str], shared: Mapping[str, JsonValue]) -> Excerpt | None:
    """Return what a value has to satisfy that lies at this path of a value of the schema, as far as `properties` say.

    None where nothing is said. Followed are `properties` and references that stand where no property does.
    """
    found: Excerpt | None = Excerpt(schema=schema)
    for token in tokens:
        found = _below(found, token, shared) if found is not None else None
    return found


@frozen(kw_only=True)
class Reach:
    """What a subschema refers to, and how many alternatives it has with all of that."""

    shared: Mapping[str, JsonValue]
    refers_to_its_own_document: bool
    branches: int

    @property
    def is_too_much(self) -> bool:
        """Say whether reasoning about the combinations of alternatives could take seconds."""
        return self.branches > BRANCHES_MAX


def reach_of(excerpt: Excerpt, shared: Mapping[str, JsonValue]) -> Reach:
    graph = SchemaGraph(root=excerpt.schema, shared=shared)
    start = excerpt.place.resolve(excerpt.schema)
    seen: dict[int, JsonObject] = {}
    pending = [start] if isinstance(start, dict) else []
    while pending:
        found = pending.pop()
        if id(found) not in seen:
            seen[id(found)] = found
            pending += [edge.schema for edge in graph.edges(found)]
    references = {str(reference) for found in seen.values() for reference in _references(found)}
    names = {reference.removeprefix(SHARED_PREFIX) for reference in references}
    return Reach(
        shared={name: shared[name] for name in names if name in shared},
        refers_to_its_own_document=any(not reference.startswith(SHARED_PREFIX) for reference in references),
        branches=sum(_branches(found) for found in seen.values()),
    )


def _references(schema: JsonObject) -> list[JsonValue]:
    return [schema[keyword] for keyword in ("$ref", "$dynamicRef") if keyword in schema]


def _branches(schema: JsonObject) -> int:
    count = 0
    for keyword, weight in _WEIGHTS.items():
        if keyword in schema:
            alternatives = schema[keyword]
            several = keyword not in ("not", "if") and isinstance(alternatives, list | dict)
            count += weight * (len(cast("list[JsonValue]", alternatives)) if several else 1)
    return count


def _below(excerpt: Excerpt, token: str, shared: Mapping[str, JsonValue]) -> Excerpt | None:
    for _ in range(len(shared) + 2):
        found = excerpt.place.resolve(excerpt.schema)
        if not isinstance(found, dict):
            return None
        named = found.get("properties")
        if isinstance(named, dict) and token in named:
            return Excerpt(schema=excerpt.schema, place=excerpt.place.child("properties").child(token))
        reference = found.get("$ref")
        if not isinstance(reference, str) or not reference.startswith(SHARED_PREFIX):
            return None
        excerpt = Excerpt(schema=shared.get(reference.removeprefix(SHARED_PREFIX), True))
    return None
