"""What is wrong with a JSON Schema before it meets any instance."""

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from urllib.parse import unquote

from attrs import field, frozen
from jsonschema_rs import ValidationErrorKind

from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.schema_complexity import PARTS_MAX, is_too_complex
from orchestrator_domain.exact_json.schema_engine import (
    DIALECT,
    ENGINE_FAULTS,
    META_SCHEMA,
    SHARED_PREFIX,
    is_known_format,
    is_linear_pattern,
    new_validator,
)
from orchestrator_domain.exact_json.schema_keywords import KEYWORDS, subschemas
from orchestrator_domain.exact_json.schema_violation import violation_of
from orchestrator_domain.exact_json.value import DEFAULT_LIMITS, JsonObject, JsonValue, is_nested_deeper

NOTHING_SHARED: Final[Mapping[str, JsonValue]] = MappingProxyType({})


class SchemaFaultCode(StrEnum):
    """Stable codes; all but UNKNOWN_KEYWORD keep a schema from being compiled."""

    NOT_A_SCHEMA = "NOT_A_SCHEMA"
    REMOTE_REFERENCE = "REMOTE_REFERENCE"
    SCHEMA_TOO_COMPLEX = "SCHEMA_TOO_COMPLEX"
    SCHEMA_TOO_DEEP = "SCHEMA_TOO_DEEP"
    UNKNOWN_FORMAT = "UNKNOWN_FORMAT"
    UNKNOWN_KEYWORD = "UNKNOWN_KEYWORD"
    UNKNOWN_REFERENCE = "UNKNOWN_REFERENCE"
    UNSUPPORTED_DIALECT = "UNSUPPORTED_DIALECT"
    UNSUPPORTED_IDENTIFIER = "UNSUPPORTED_IDENTIFIER"
    UNSUPPORTED_PATTERN = "UNSUPPORTED_PATTERN"


@frozen(kw_only=True)
class SchemaFault:
    """A fault, its place in the schema and what to do; `code` is one of SchemaFaultCode."""

    pointer: str
    code: str
    message: str


def check_schema(
    schema: JsonValue, *, shared: Mapping[str, JsonValue] = NOTHING_SHARED
) -> tuple[SchemaFault, ...]:
    """Return every fault of a draft 2020-12 schema, outermost first; without faults it compiles.

    References go to places in the schema itself (`#`, `#/…`, `#anchor`) or, whole, to `urn:flow:schema:<name>` with a
    name out of `shared`; nothing is ever fetched. UNKNOWN_KEYWORD is advice (an unknown keyword asserts
    nothing, so it is mostly a slip); every other code keeps the schema from being compiled.
    """
    if is_nested_deeper(schema, DEFAULT_LIMITS.depth_max):
        message = f"The schema is nested deeper than {DEFAULT_LIMITS.depth_max} levels."
        return (_fault(Pointer.root(), SchemaFaultCode.SCHEMA_TOO_DEEP, message),)
    document = _Document(root=schema, shared_names=frozenset(shared))
    faults = [*_meta_schema_faults(schema), *document.faults()]
    if not any(hinders_compiling(fault) for fault in faults):
        faults += _complexity_faults(schema, shared) or _engine_faults(schema, shared.keys())
    return tuple(dict.fromkeys(faults))


def hinders_compiling(fault: SchemaFault) -> bool:
    return fault.code != SchemaFaultCode.UNKNOWN_KEYWORD


def _fault(place: Pointer, code: SchemaFaultCode, message: str) -> SchemaFault:
    return SchemaFault(pointer=str(place), code=code, message=message)


def _meta_schema_faults(schema: JsonValue) -> Iterator[SchemaFault]:
    try:
        for error in META_SCHEMA.iter_errors(schema):
            found = violation_of(error, schema)
            message = _not_a_schema(error.kind, found.message)
            yield SchemaFault(pointer=found.pointer, code=SchemaFaultCode.NOT_A_SCHEMA, message=message)
    except ENGINE_FAULTS:
        yield _fault(Pointer.root(), SchemaFaultCode.NOT_A_SCHEMA, "The schema isn't exact JSON.")


def _not_a_schema(kind: ValidationErrorKind, message: str) -> str:
    if isinstance(kind, ValidationErrorKind.AnyOf):
        message = "The value is neither a known type nor a list of different known types."
    return f"This is no JSON Schema of draft 2020-12. {message}"


def _complexity_faults(schema: JsonValue, shared: Mapping[str, JsonValue]) -> list[SchemaFault]:
    if not is_too_complex(schema, shared):
        return []
    message = (
        f"Written out, the schema has more than {PARTS_MAX} parts, or it applies itself twice to one part of a value; "
        "refer to each schema once."
    )
    return [_fault(Pointer.root(), SchemaFaultCode.SCHEMA_TOO_COMPLEX, message)]


def _engine_faults(schema: JsonValue, shared_names: Collection[str]) -> list[SchemaFault]:
    """Let the engine have the last word, the shared schemas standing in as schemas that allow everything."""
    try:
        new_validator(schema, [(name, True) for name in shared_names])
    except ENGINE_FAULTS:
        message = "The schema can't be compiled: check its references, expressions and formats."
        return [_fault(Pointer.root(), SchemaFaultCode.NOT_A_SCHEMA, message)]
    return []


@frozen(kw_only=True)
class _Document:
    root: JsonValue
    shared_names: frozenset[str]
    anchors: frozenset[JsonValue] = field(init=False)

    @anchors.default
    def _find_anchors(self) -> frozenset[JsonValue]:
        names = ("$anchor", "$dynamicAnchor")
        found = (schema.get(name) for _, schema in subschemas(self.root) for name in names)
        return frozenset(anchor for anchor in found if isinstance(anchor, str))

    def faults(self) -> Iterator[SchemaFault]:
        for place, schema in subschemas(self.root):
            yield from _unknown_keywords(place, schema)
            yield from _identity_faults(place, schema)
            yield from _pattern_faults(place, schema)
            yield from _format_faults(place, schema)
            yield from self._reference_faults(place, schema)

    def _reference_faults(self, place: Pointer, schema: JsonObject) -> Iterator[SchemaFault]:
        for keyword in ("$ref", "$dynamicRef"):
            reference = schema.get(keyword)
            if isinstance(reference, str):
                yield from self._one_reference(place.child(keyword), reference)

    def _one_reference(self, place: Pointer, reference: str) -> Iterator[SchemaFault]:
        if reference.startswith("#") or not reference:
            if not self._is_within(unquote(reference[1:])):
                message = "The reference names no place in this schema."
                yield _fault(place, SchemaFaultCode.UNKNOWN_REFERENCE, message)
        elif not reference.startswith(SHARED_PREFIX):
            message = f"References stay in the schema (#/…) or name a shared schema ({SHARED_PREFIX}<name>)."
            yield _fault(place, SchemaFaultCode.REMOTE_REFERENCE, message)
        elif reference.removeprefix(SHARED_PREFIX) not in self.shared_names:
            message = f"There is no shared schema of this name{self._names_to_choose_from()}."
            yield _fault(place, SchemaFaultCode.UNKNOWN_REFERENCE, message)

    def _is_within(self, fragment: str) -> bool:
        if fragment and not fragment.startswith("/"):
            return fragment in self.anchors
        try:
            target = Pointer.parse(fragment).resolve(self.root)
        except InvalidPointer:
            return False
        return isinstance(target, (dict, bool))

    def _names_to_choose_from(self) -> str:
        return f": choose among {', '.join(sorted(self.shared_names))}" if self.shared_names else ""


def _unknown_keywords(place: Pointer, schema: JsonObject) -> Iterator[SchemaFault]:
    for keyword in schema:
        if keyword not in KEYWORDS:
            message = "This keyword isn't one of draft 2020-12 and would be ignored."
            yield _fault(place.child(keyword), SchemaFaultCode.UNKNOWN_KEYWORD, message)


_DIALECTS: Final = (DIALECT, DIALECT + "#")


def _identity_faults(place: Pointer, schema: JsonObject) -> Iterator[SchemaFault]:
    if schema.get("$schema", DIALECT) not in _DIALECTS:
        message = f"Only {DIALECT} is understood."
        yield _fault(place.child("$schema"), SchemaFaultCode.UNSUPPORTED_DIALECT, message)
    identifier = schema.get("$id", "")
    # An identifier within would change what `#` means below it; one that looks shared would hide the shared schema.
    if "$id" in schema and (place.tokens or str(identifier).startswith(SHARED_PREFIX)):
        message = (
            f"An $id is allowed at the root of a schema only, and not below {SHARED_PREFIX}: leave it out."
        )
        yield _fault(place.child("$id"), SchemaFaultCode.UNSUPPORTED_IDENTIFIER, message)


def _pattern_faults(place: Pointer, schema: JsonObject) -> Iterator[SchemaFault]:
    named = schema.get("patternProperties")
    patterns = (
        [(place.child("patternProperties").child(name), name) for name in named]
        if isinstance(named, dict)
        else []
    )
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        patterns.append((place.child("pattern"), pattern))
    for here, expression in patterns:
        if not is_linear_pattern(expression):
            message = "The expression is malformed, too large, or uses look-around or back-references."
            yield _fault(here, SchemaFaultCode.UNSUPPORTED_PATTERN, message)


def _format_faults(place: Pointer, schema: JsonObject) -> Iterator[SchemaFault]:
    name = schema.get("format")
    if isinstance(name, str) and not is_known_format(name):
        message = "This format is none of those of draft 2020-12, so it can't be checked."
        yield _fault(place.child("format"), SchemaFaultCode.UNKNOWN_FORMAT, message)
