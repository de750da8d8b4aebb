"""Read jsonb exactly, even where it grew a little beyond the limits of what comes in."""

from collections.abc import Iterable
from enum import Enum
from typing import cast
from uuid import UUID

from psycopg.types.json import Jsonb

from orchestrator_domain.exact_json.layout import written_fault
from orchestrator_domain.exact_json.limits import JsonLimits
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue

# Documents that were within the limits are kept inside others (a result in the data, attributes in a snapshot).
_STORED_LIMITS = JsonLimits(depth_max=200)


class Unreadable(Enum):
    """Stands for a stored document beyond every limit, so that its row fails alone and not those fetched with it."""

    UNREADABLE = "UNREADABLE"


def load_stored(text: bytes | str) -> JsonValue | Unreadable:
    """Return the exact value of a jsonb text."""
    try:
        return parse_json(text)
    except MalformedJson:
        return _beyond_the_limits_of_input(text)


def _beyond_the_limits_of_input(text: bytes | str) -> JsonValue | Unreadable:
    try:
        return parse_json(text, limits=_STORED_LIMITS)
    except MalformedJson:
        return Unreadable.UNREADABLE


def jsonb(value: JsonValue) -> Jsonb:
    """Mark a value as a jsonb parameter."""
    return Jsonb(value)


def jsonb_or_null(value: JsonValue) -> Jsonb | None:
    """Mark a value as a jsonb parameter, None as SQL's NULL."""
    return None if value is None else Jsonb(value)


def as_object_or_null(value: object) -> JsonObject | None:
    return None if value is None else as_object(value)


def as_object(value: object) -> JsonObject:
    """Return a column that a CHECK keeps to objects."""
    if not isinstance(value, dict):
        raise TypeError("A stored document is no object.")
    return cast("JsonObject", value)


def id_text(value: UUID) -> str:
    """Write an id as PostgreSQL reads it, in a third of the time that its form with hyphens takes."""
    return value.hex


def ids_parameter(ids: Iterable[UUID]) -> str:
    """Return the text of a uuid[]."""
    return "{" + ",".join([each.hex for each in ids]) + "}"


def rows_parameter(rows: Iterable[str]) -> dict[str, str]:
    """Return the parameter of a set-based statement; raises InexactJson for what can't be stored."""
    text = "[" + ",".join(rows) + "]"
    if fault := written_fault(text):
        raise InexactJson(fault)
    return {"rows": text}
