"""The subschemas that a schema applies, and whether each looks at the same value or at a part of it."""

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Final
from urllib.parse import unquote

from attrs import define, field, frozen

from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.schema_engine import SHARED_PREFIX
from orchestrator_domain.exact_json.schema_keywords import subschemas
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue


class Part(Enum):
    """Which parts of a value a subschema looks at, where it isn't one named member."""

    MEMBERS = auto()
    ELEMENTS = auto()


@frozen(kw_only=True)
class Application:
    """One subschema that is applied; `part` None means to the same value, a string to the member of that name."""

    schema: JsonObject
    part: str | Part | None = None


_SAME: Final = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas")
_MEMBERS: Final = ("patternProperties", "additionalProperties", "unevaluatedProperties")
_ELEMENTS: Final = ("items", "prefixItems", "contains", "unevaluatedItems")


@define(kw_only=True)
class SchemaGraph:
    """Follow a schema into its parts and along its references, also into shared schemas.

    References that lead nowhere are no edges: `check_schema` reports them.
    """

    root: JsonValue
    shared: Mapping[str, JsonValue]
    _documents: dict[int, JsonValue] = field(factory=dict, init=False)
    _anchors: dict[int, dict[str, JsonObject]] = field(factory=dict, init=False)
    _edges: dict[int, tuple[Application, ...]] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        for document in (*self.shared.values(), self.root):
            for _, schema in subschemas(document):
                self._documents[id(schema)] = document

    def edges(self, schema: JsonObject) -> tuple[Application, ...]:
        """Return what the schema applies, in its order."""
        if id(schema) not in self._edges:
            self._edges[id(schema)] = tuple(self._applied(schema))
        return self._edges[id(schema)]

    def _applied(self, schema: JsonObject) -> Iterator[Application]:
        for keyword in ("$ref", "$dynamicRef"):
            target = self._target(schema, schema.get(keyword))
            if isinstance(target, dict):
                self._documents.setdefault(id(target), self._documents.get(id(schema), self.root))
                yield Application(schema=target)
        for keyword in _SAME:
            yield from _applications(
                schema.get(keyword), None, nested=keyword not in ("if", "then", "else", "not")
            )
        for keyword in _MEMBERS:
            yield from _applications(schema.get(keyword), Part.MEMBERS, nested=keyword == "patternProperties")
        for keyword in _ELEMENTS:
            yield from _applications(schema.get(keyword), Part.ELEMENTS, nested=keyword == "prefixItems")
        named = schema.get("properties")
        for name, below in named.items() if isinstance(named, dict) else ():
            yield from _applications(below, name, nested=False)

    def _target(self, schema: JsonObject, reference: JsonValue) -> JsonValue | Absent:
        if not isinstance(reference, str):
            return None
        if reference.startswith(SHARED_PREFIX):
            return self.shared.get(reference.removeprefix(SHARED_PREFIX))
        document = self._documents.get(id(schema), self.root)
        fragment = unquote(reference.removeprefix("#"))
        if fragment and not fragment.startswith("/"):
            return self._anchored(document).get(fragment)
        try:
            return Pointer.parse(fragment).resolve(document)
        except InvalidPointer:
            return None

    def _anchored(self, document: JsonValue) -> dict[str, JsonObject]:
        if id(document) not in self._anchors:
            self._anchors[id(document)] = {
                anchor: schema
                for _, schema in subschemas(document)
                for name in ("$anchor", "$dynamicAnchor")
                if isinstance(anchor := schema.get(name), str)
            }
        return self._anchors[id(document)]


def _applications(value: JsonValue, part: str | Part | None, *, nested: bool) -> Iterator[Application]:
    if not nested:
        found: list[JsonValue] = [value]
    elif isinstance(value, dict):
        found = list(value.values())
    else:
        found = value if isinstance(value, list) else []
    for schema in found:
        if isinstance(schema, dict):
            yield Application(schema=schema, part=part)
