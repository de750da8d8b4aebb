"""A part of a schema where it stands, with all that it leads to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema_engine import SHARED_PREFIX
from orchestrator_domain.exact_json.schema_graph import SchemaGraph
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

CASES_MAX: Final = 2**14
"""How many combinations of alternatives are looked at; twice as many take twice as long, and these take a moment."""

_ALTERNATIVES: Final = ("anyOf", "oneOf")
_CONDITIONALS: Final = ("if", "not")


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
    """What a subschema refers to, and how many combinations of alternatives that makes."""

    shared: Mapping[str, JsonValue]
    refers_to_its_own_document: bool
    cases: int

    @property
    def is_too_much(self) -> bool:
        """Say whether reasoning about the combinations of alternatives could take seconds."""
        return self.cases > CASES_MAX


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
        cases=_combined(map(_cases, seen.values())),
    )


def _references(schema: JsonObject) -> list[JsonValue]:
    return [schema[keyword] for keyword in ("$ref", "$dynamicRef") if keyword in schema]


def _combined(cases: Iterable[int]) -> int:
    """Multiply, but no further than is too much."""
    combined = 1
    for each in cases:
        combined = min(combined * max(each, 1), CASES_MAX + 1)
    return combined


def _cases(schema: JsonObject) -> int:
    """Return how many alternatives the schema itself has; a condition has up to four, with what it negates."""
    cases = 1
    for keyword in _ALTERNATIVES:
        branches = schema.get(keyword)
        cases *= len(branches) if isinstance(branches, list) else 1
    dependent = schema.get("dependentSchemas")
    cases <<= min(len(dependent) if isinstance(dependent, dict) else 0, 32)
    conditionals = sum(keyword in schema for keyword in _CONDITIONALS)
    return cases << 2 * conditionals


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
