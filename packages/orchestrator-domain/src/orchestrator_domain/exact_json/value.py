"""JSON values as the domain holds them: exact numbers, plain containers, no float."""

from collections.abc import Iterator
from decimal import Decimal
from enum import Enum, StrEnum, auto
from typing import ClassVar, Final, cast

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.limits import DEFAULT_LIMITS, JsonLimits, exponent_fault, number_fault

__all__ = [
    "ABSENT",
    "DEFAULT_LIMITS",
    "Absent",
    "InexactJson",
    "JsonLimits",
    "JsonObject",
    "JsonScalar",
    "JsonValue",
    "Kind",
    "check_exact",
    "escaped_token",
    "is_nested_deeper",
    "kind_of",
    "text_fault",
]

type JsonScalar = bool | int | Decimal | str | None
type JsonValue = JsonScalar | list[JsonValue] | dict[str, JsonValue]
type JsonObject = dict[str, JsonValue]


class Absent(Enum):
    """What is found where nothing is; apart from null, which is a value."""

    ABSENT = "ABSENT"

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent.ABSENT


class Kind(StrEnum):
    """The kinds of JSON values, and that of none."""

    ABSENT = auto()
    NULL = auto()
    BOOLEAN = auto()
    NUMBER = auto()
    STRING = auto()
    ARRAY = auto()
    OBJECT = auto()


class InexactJson(OrchestratorError):
    """A Python value isn't exact JSON; `pointer` says where."""

    code: ClassVar[str] = "MALFORMED_JSON"


_KINDS: Final[dict[type, Kind]] = {
    Absent: Kind.ABSENT,
    type(None): Kind.NULL,
    bool: Kind.BOOLEAN,
    int: Kind.NUMBER,
    Decimal: Kind.NUMBER,
    str: Kind.STRING,
    list: Kind.ARRAY,
    dict: Kind.OBJECT,
}


def kind_of(value: JsonValue | Absent) -> Kind:
    """Tell the kind by the exact type, so that `true` is never a number.

    Raises InexactJson for a float, a subclass and anything else that isn't exact JSON.
    """
    kind = _KINDS.get(type(value))
    if kind is None:
        raise InexactJson(_type_fault(value))
    return kind


def check_exact(value: object, *, limits: JsonLimits = DEFAULT_LIMITS) -> JsonValue:
    """Return the value itself once it is known to be exact JSON within the limits.

    For Python values that a host hands in. Only None, bool, int, finite Decimal, str, list and dict with str keys pass,
    by exact type: floats, tuples and subclasses are refused, and so are U+0000 and lone surrogates, in keys too.
    Any nesting is survived. Raises InexactJson with the place.
    """
    pending: list[_Found] = [(value, None, 0)]
    while pending:
        item, place, depth = pending.pop()
        fault = _fault(item, depth, limits)
        if fault is not None:
            raise InexactJson(fault, pointer=_pointer_text(place))
        pending.extend(_children(item, place, depth + 1))
    return cast("JsonValue", value)


# A place is a chain towards the root, written out only when there is a fault to report.
type _Place = tuple[_Place, str | int] | None
type _Found = tuple[object, _Place, int]


def _fault(item: object, depth: int, limits: JsonLimits) -> str | None:
    exact_type = type(item)
    if exact_type is str:
        return text_fault(cast("str", item))
    if exact_type is int:
        return _integer_fault(cast("int", item), limits)
    if exact_type is Decimal:
        return _decimal_fault(cast("Decimal", item), limits)
    if exact_type is list or exact_type is dict:
        return _container_fault(cast("list[object] | dict[object, object]", item), depth, limits)
    return None if item is None or exact_type is bool else _type_fault(item)


def copied(value: JsonValue) -> JsonValue:
    """Return an equal value that shares no array and no object with this one."""
    if isinstance(value, dict):
        return {name: copied(member) for name, member in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value


def text_fault(text: str) -> str | None:
    """Say why a string can't be stored as it is, or None."""
    if "\0" in text:
        return "A string holds U+0000, which can't be stored."
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "A string holds a lone surrogate, which is no character."
    return None


def _integer_fault(number: int, limits: JsonLimits) -> str | None:
    # Four bits hold more than a decimal digit: what is this long is beyond the limit, and is never turned into text.
    if number.bit_length() > 4 * (limits.exponent_max + 1):
        return exponent_fault(limits)
    return number_fault(str(abs(number)), 0, limits)


def _decimal_fault(number: Decimal, limits: JsonLimits) -> str | None:
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return "A number is infinite or no number at all."
    return number_fault("".join(map(str, digits)), exponent, limits)


def _container_fault(item: list[object] | dict[object, object], depth: int, limits: JsonLimits) -> str | None:
    if depth >= limits.depth_max:
        return f"The value is nested deeper than {limits.depth_max} levels."
    for key in item if isinstance(item, dict) else ():
        if type(key) is not str:
            return "A member name isn't a plain str."
        if fault := text_fault(key):
            return fault
    return None


def _type_fault(item: object) -> str:
    if isinstance(item, float):
        return "A float isn't exact: hand in an int or a Decimal."
    return f"A Python {type(item).__name__} isn't exact JSON."


def _children(item: object, place: _Place, depth: int) -> Iterator[_Found]:
    if type(item) is list:
        yield from ((child, (place, index), depth) for index, child in enumerate(item))
    elif type(item) is dict:
        yield from ((child, (place, key), depth) for key, child in item.items())


def _pointer_text(place: _Place) -> str:
    tokens: list[str] = []
    while place is not None:
        place, token = place
        tokens.append("/" + escaped_token(str(token)))
    return "".join(reversed(tokens))


def escaped_token(token: str) -> str:
    """Write a member name as a token of a JSON Pointer (RFC 6901, section 3)."""
    return token.replace("~", "~0").replace("/", "~1")


def is_nested_deeper(value: JsonValue, depth_max: int) -> bool:
    """Tell whether more than `depth_max` arrays and objects lie within one another; survives any nesting."""
    level = [value] if isinstance(value, (list, dict)) else []
    for _ in range(depth_max):
        if not level:
            return False
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
            if isinstance(child, (list, dict))
        ]
    return bool(level)
