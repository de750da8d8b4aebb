"""Rows of set-based statements as JSON text, each value written by what its column holds.

The rows of a statement have one shape, so nothing has to be walked: whoever writes a row names its members, each with its
value in the form that one of these functions gives it. What could hold anything is escaped, and a value of another type
than its column's raises InexactJson.
"""

from enum import StrEnum
from json.encoder import encode_basestring
from math import isfinite
from uuid import UUID

from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import InexactJson, JsonObject
from orchestrator_postgres.stored_json import id_text


def text(value: str) -> str:
    if type(value) is not str:
        raise InexactJson("A text isn't a plain str.")
    return encode_basestring(value)


def text_or_null(value: str | None) -> str:
    return "null" if value is None else text(value)


def choice(value: StrEnum) -> str:
    return encode_basestring(value)


def whole(value: int) -> str:
    # Neither a float nor what only counts as an int, such as True.
    if type(value) is not int:
        raise InexactJson("A whole number isn't a plain int.")
    return str(value)


def whole_or_null(value: int | None) -> str:
    return "null" if value is None else whole(value)


def seconds_or_null(value: float | None) -> str:
    """Write the shortest digits that are read as this float again."""
    if value is None:
        return "null"
    if not isfinite(value):
        raise InexactJson("A number is infinite or no number at all.")
    return repr(float(value))


def truth(value: object) -> str:
    if value is True:
        return "true"
    if value is False:
        return "false"
    raise InexactJson("A truth value isn't a plain bool.")


def uuid(value: UUID) -> str:
    return f'"{id_text(value)}"'


def uuid_or_null(value: UUID | None) -> str:
    return "null" if value is None else uuid(value)


def document(value: JsonObject) -> str:
    return dump_json(value)


def document_or_null(value: JsonObject | None) -> str:
    return "null" if value is None else dump_json(value)
