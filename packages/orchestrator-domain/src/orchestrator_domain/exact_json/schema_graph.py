"""The subschemas that a schema applies, and whether each looks at the same value or at a part of it."""

from collections.abc import Iterable, Iterator, Mapping
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


_REFERENCES: Final = frozenset(("$ref", "$dynamicRef"))
_PARTS: Final[Mapping[str, tuple[Part | None, bool]]] = {
    "allOf": (None, True),
    "anyOf": (None, True),
    "oneOf": (None, True),
    "dependentSchemas": (None, True),
    "if": (None, False),
    "then": (None, False),
    "else": (None, False),
    "not": (None, False),
    "patternProperties": (Part.MEMBERS, True),
    "additionalProperties": (Part.MEMBERS, False),
    "unevaluatedProperties": (Part.MEMBERS, False),
    "prefixItems": (Part.ELEMENTS, True),
    "items": (Part.ELEMENTS, False),
    "contains": (Part.ELEMENTS, False),
    "unevaluatedItems": (Part.ELEMENTS, False),
}
"""The part that each keyword's schemas look at, and whether the keyword holds several."""


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

    def edges(self, schema: JsonObject) -> tuple[Application, ...]:
        """Return what the schema applies, in its order."""
        if id(schema) not in self._edges:
            self._edges[id(schema)] = tuple(self._applied(schema))
            for edge in self._edges[id(schema)]:
                self._documents.setdefault(id(edge.schema), self._document_of(schema))
        return self._edges[id(schema)]

    def _applied(self, schema: JsonObject) -> Iterator[Application]:
        for keyword, value in schema.items():
            if keyword in _REFERENCES:
                target = self._target(schema, value)
                if isinstance(target, dict):
                    yield Application(schema=target)
            elif keyword == "properties" and isinstance(value, dict):
                for name, below in value.items():
                    yield from _applications([below], name)
            elif keyword in _PARTS:
                part, holds_several = _PARTS[keyword]
                yield from _applications(_several(value) if holds_several else [value], part)

    def _target(self, schema: JsonObject, reference: JsonValue) -> JsonValue | Absent:
        if not isinstance(reference, str):
            return None
        if reference.startswith(SHARED_PREFIX):
            document = self.shared.get(reference.removeprefix(SHARED_PREFIX))
            if isinstance(document, dict):
                self._documents.setdefault(id(document), document)
            return document
        document = self._document_of(schema)
        fragment = unquote(reference.removeprefix("#"))
        if fragment and not fragment.startswith("/"):
            return self._anchored(document).get(fragment)
        try:
            return Pointer.parse(fragment).resolve(document)
        except InvalidPointer:
            return None

    def _document_of(self, schema: JsonObject) -> JsonValue:
        return self._documents.get(id(schema), self.root)

    def _anchored(self, document: JsonValue) -> dict[str, JsonObject]:
        if id(document) not in self._anchors:
            self._anchors[id(document)] = {
                anchor: schema
                for _, schema in subschemas(document)
                for name in ("$anchor", "$dynamicAnchor")
                if isinstance(anchor := schema.get(name), str)
            }
        return self._anchors[id(document)]


def _several(value: JsonValue) -> Iterable[JsonValue]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _applications(schemas: Iterable[JsonValue], part: str | Part | None) -> Iterator[Application]:
    for schema in schemas:
        if isinstance(schema, dict):
            yield Application(schema=schema, part=part)
