"""JSON text to exact values and back."""

import re
from codecs import BOM_UTF8
from decimal import Decimal
from typing import ClassVar, Final, cast

import jiter

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.layout import json_writer
from orchestrator_domain.exact_json.limits import DEFAULT_LIMITS, JsonLimits
from orchestrator_domain.exact_json.scan import first_excess
from orchestrator_domain.exact_json.value import InexactJson, JsonValue, check_exact


class MalformedJson(OrchestratorError):
    """The text isn't JSON that can be taken; `line` and `column` (from 1, in characters) or `pointer` say where."""

    code: ClassVar[str] = "MALFORMED_JSON"

    def __init__(
        self, message: str, *, pointer: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(message, pointer=pointer)
        self.line = line
        self.column = column


def parse_json(text: bytes | str, *, limits: JsonLimits = DEFAULT_LIMITS) -> JsonValue:
    """Read one JSON value (RFC 8259) exactly, or raise MalformedJson.

    A number without fraction and exponent is an int (`-0` is 0, for integers know no negative zero), every other a
    Decimal with the digits and the sign as written: `1.0` and `1e2` are Decimals, equal in value to 1 and 100.

    Refused: what isn't UTF-8, a byte order mark, duplicate member names, NaN and infinities, U+0000 and lone surrogates
    (in names too), what lies beyond the limits, and anything after the value. The limits are looked at in one linear
    pass before parsing. Messages never quote the text.
    """
    source = _utf_8(text)
    excess = first_excess(source, limits)
    if excess is not None:
        raise _malformed_at(excess.message, source.decode()[: excess.offset])
    value = _parsed(source)
    if b"\\u0000" in source:
        _refuse_nul(value, limits)
    return value


def dump_json(value: JsonValue) -> str:
    """Write a value compactly, members in their order, numbers with their digits, characters unescaped.

    `parse_json` reads an equal value back. Raises InexactJson for what isn't exact JSON.
    """
    return _write(value)


def _utf_8(text: bytes | str) -> bytes:
    source = _encoded(text) if isinstance(text, str) else text
    if source.startswith(BOM_UTF8):
        raise MalformedJson(
            "The text starts with a byte order mark: send UTF-8 without it.", line=1, column=1
        )
    try:
        source.decode()
    except UnicodeDecodeError as fault:
        raise _malformed_at("The text isn't UTF-8.", source[: fault.start].decode()) from None
    return source


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as fault:
        raise _malformed_at("The text holds a lone surrogate.", text[: fault.start]) from None


def _malformed_at(message: str, text_before: str) -> MalformedJson:
    last_line = text_before[text_before.rfind("\n") + 1 :]
    return MalformedJson(message, line=text_before.count("\n") + 1, column=len(last_line) + 1)


def _parsed(source: bytes) -> JsonValue:
    try:
        value = jiter.from_json(
            source,
            allow_inf_nan=False,
            cache_mode="keys",
            catch_duplicate_keys=True,
            float_mode="decimal",
            partial_mode=False,
        )
    except ValueError as fault:
        raise _translated(str(fault), source) from None
    return cast("JsonValue", value)


# The parser's own texts quote member names, which are the sender's, so each is replaced.
_REASONS: Final = (
    ("Detected duplicate key", "A member name occurs twice in one object."),
    ("EOF", "The text ends before the value does."),
    ("trailing characters", "Something follows the end of the value."),
    ("trailing comma", "A comma is followed by no further element."),
    ("control character", "A string holds a control character that isn't escaped."),
    ("lone leading surrogate", "A string holds a lone surrogate, which is no character."),
    ("unexpected end of hex escape", "A string holds a lone surrogate, which is no character."),
    ("invalid escape", "A string holds an unknown escape."),
    ("invalid number", "A number isn't written as JSON writes numbers."),
)
_PARSER_PLACE: Final = re.compile(r" at line (\d+) column (\d+)$")


def _translated(parser_text: str, source: bytes) -> MalformedJson:
    reasons = (reason for start, reason in _REASONS if parser_text.startswith(start))
    message = next(reasons, "The text isn't well-formed JSON.")
    place = _PARSER_PLACE.search(parser_text)
    if place is None:
        return MalformedJson(message)
    line, column_bytes = int(place[1]), int(place[2])
    last_line = source.split(b"\n")[line - 1][: max(column_bytes - 1, 0)]
    return MalformedJson(message, line=line, column=len(last_line.decode(errors="ignore")) + 1)


def _refuse_nul(value: JsonValue, limits: JsonLimits) -> None:
    try:
        check_exact(value, limits=limits)
    except InexactJson as fault:
        raise MalformedJson(fault.message, pointer=fault.pointer) from None


def _finite(number: Decimal) -> str:
    if not number.is_finite():
        raise InexactJson("A number is infinite or no number at all.")
    return str(number)


_write = json_writer(integer=str, decimal=_finite, names=iter)
