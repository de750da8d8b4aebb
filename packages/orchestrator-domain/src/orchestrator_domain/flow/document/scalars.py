"""Keys, texts, numbers, roles, pointers and schemas: what the objects of the language are made of."""

from decimal import Decimal
from typing import Final

from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.document.members import Read, list_of, wrong_kind
from orchestrator_domain.flow.document.reading import Reading, Unreadable, nearest
from orchestrator_domain.identifiers import Role, is_key

INTEGER_MAX: Final = 2_147_483_647
_NAME_MAX: Final = 200


def text(reading: Reading, value: JsonValue, at: Pointer) -> str | Unreadable:
    return value if isinstance(value, str) else wrong_kind(reading, value, at, "a string")


def flag(reading: Reading, value: JsonValue, at: Pointer) -> bool | Unreadable:
    return value if isinstance(value, bool) else wrong_kind(reading, value, at, "a boolean")


def key(reading: Reading, value: JsonValue, at: Pointer) -> str | Unreadable:
    """Read a key of the language (flow-language: 1–100 characters, a letter first)."""
    if not isinstance(value, str):
        return wrong_kind(reading, value, at, "a string")
    if is_key(value):
        return value
    message = "A key is 1 to 100 characters long: a letter, then letters, digits, '_', '.' and '-'."
    return reading.fault("INVALID_KEY", at, message)


def name(reading: Reading, value: JsonValue, at: Pointer) -> str | Unreadable:
    """Read a name that other systems chose: a role, or a provider's input."""
    if not isinstance(value, str):
        return wrong_kind(reading, value, at, "a string")
    if 1 <= len(value) <= _NAME_MAX:
        return value
    return reading.fault("INVALID_NAME", at, f"A name is 1 to {_NAME_MAX} characters long.")


def positive_integer(reading: Reading, value: JsonValue, at: Pointer) -> int | Unreadable:
    """Read 1 to the largest integer that the store holds; `1.0` is one too, as JSON Schema says."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return wrong_kind(reading, value, at, "an integer")
    if not 1 <= value <= INTEGER_MAX:
        return reading.fault("OUT_OF_RANGE", at, f"This number is between 1 and {INTEGER_MAX}.")
    if value != int(value):
        return wrong_kind(reading, value, at, "an integer")
    return int(value)


def anything(_reading: Reading, value: JsonValue, _at: Pointer) -> JsonValue:
    return value


def json_object(reading: Reading, value: JsonValue, at: Pointer) -> JsonObject | Unreadable:
    return value if isinstance(value, dict) else wrong_kind(reading, value, at, "an object")


def json_schema(reading: Reading, value: JsonValue, at: Pointer) -> JsonValue | Unreadable:
    """Read what may be a JSON Schema; what is in it is judged with the flow's soundness."""
    if isinstance(value, dict | bool):
        return value
    return wrong_kind(reading, value, at, "a JSON Schema (an object or a boolean)")


def schema_version(reading: Reading, value: JsonValue, at: Pointer) -> int | Unreadable:
    if isinstance(value, bool) or value != 1:
        message = "This release reads schemaVersion 1 only; write the number 1."
        return reading.fault("UNSUPPORTED_SCHEMA_VERSION", at, message)
    return 1


def distinct[T](read: Read[T], *, empty: bool = False) -> Read[frozenset[T]]:
    """Return a reader of lists that hold nothing twice."""
    read_all = list_of(read, empty=empty)

    def read_set(reading: Reading, value: JsonValue, at: Pointer) -> frozenset[T] | Unreadable:
        elements = read_all(reading, value, at)
        if isinstance(elements, Unreadable):
            return elements
        if isinstance(value, list):
            _repeated(reading, value, at)
        return frozenset(elements)

    return read_set


def _repeated(reading: Reading, elements: list[JsonValue], at: Pointer) -> None:
    seen = set()
    for index, element in enumerate(elements):
        if isinstance(element, str) and element in seen:
            reading.fault(
                "DUPLICATE_ELEMENT", at.child(index), "This element is in the list already; remove it."
            )
        elif isinstance(element, str):
            seen.add(element)


def role(reading: Reading, value: JsonValue, at: Pointer) -> Role | Unreadable:
    read = name(reading, value, at)
    return read if isinstance(read, Unreadable) else Role(read)


roles: Final = distinct(role)
outputs: Final = distinct(key)


def data_pointer(reading: Reading, value: JsonValue, at: Pointer) -> Pointer | Unreadable:
    """Read a pointer that is relative to the request's data."""
    read = text(reading, value, at)
    return read if isinstance(read, Unreadable) else _parsed(reading, read, at)


def context_pointer(reading: Reading, value: JsonValue, at: Pointer) -> Pointer | Unreadable:
    """Read a pointer into what conditions and mappings may see, and nowhere else."""
    pointer = data_pointer(reading, value, at)
    if isinstance(pointer, Unreadable) or _leads_somewhere(pointer.tokens):
        return pointer
    message = (
        "A path starts with /request/data, /event/data, /results/<resultKey> or /actor "
        "(subject, roles, scopes, attributes)."
    )
    return reading.fault("INVALID_PATH", at, message, nearest(str(pointer), _PREFIXES))


_PREFIXES: Final = ("/request/data", "/event/data", "/results", "/actor/subject", "/actor/roles")
_ACTOR_MEMBERS: Final = frozenset({"subject", "roles", "scopes", "attributes"})


def _leads_somewhere(tokens: tuple[str, ...]) -> bool:
    match tokens:
        case ("request" | "event", "data", *_) | ("actor",):
            return True
        case ("results", result, *_):
            return is_key(result)
        case ("actor", member, *_):
            return member in _ACTOR_MEMBERS
        case _:
            return False


def _parsed(reading: Reading, written: str, at: Pointer) -> Pointer | Unreadable:
    try:
        return Pointer.parse(written)
    except InvalidPointer as fault:
        return reading.fault("INVALID_POINTER", at, fault.message)
