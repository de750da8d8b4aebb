"""Many JSON texts, one a line, read as exactly as one and with less work for each."""

from collections.abc import Iterable, Iterator
from itertools import batched
from typing import Final, cast

import jiter

from orchestrator_domain.exact_json.limits import DEFAULT_LIMITS
from orchestrator_domain.exact_json.scan import numbers_are_surely_within
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

_LINES_AT_ONCE: Final = 512
_SHALLOW_BYTES: Final = 2 * DEFAULT_LIMITS.depth_max
"""No text of so few bytes nests too deep and is well formed."""


def parse_json_lines(lines: Iterable[bytes]) -> Iterator[JsonObject]:
    """Yield the object of each line, as `parse_json` reads it, in order; lines of white space are skipped.

    Raises MalformedJson with the number of the first line that holds no JSON object, once those before it were yielded.
    """
    for number, some in enumerate(batched(lines, _LINES_AT_ONCE)):
        first = number * _LINES_AT_ONCE + 1
        quick = _are_surely_plain(b"\n".join(some))
        for place, line in enumerate(some, start=first):
            if line and not line.isspace():
                yield _object(line, place, quick=quick)


def _are_surely_plain(lines: bytes) -> bool:
    return b"\\u0000" not in lines and numbers_are_surely_within(lines) and _is_utf_8(lines)


def _is_utf_8(lines: bytes) -> bool:
    try:
        lines.decode()
    except UnicodeDecodeError:
        return False
    return True


def _object(line: bytes, place: int, *, quick: bool) -> JsonObject:
    try:
        value = _quickly(line) if quick and _is_surely_shallow(line) else parse_json(line)
    except MalformedJson as fault:
        raise MalformedJson(fault.message, line=place, column=fault.column) from None
    if type(value) is not dict:
        raise MalformedJson("A line holds one JSON object.", line=place, column=1)
    return value


def _is_surely_shallow(line: bytes) -> bool:
    return len(line) <= _SHALLOW_BYTES or line.count(b"[") + line.count(b"{") <= DEFAULT_LIMITS.depth_max


def _quickly(line: bytes) -> JsonValue:
    try:
        value = jiter.from_json(
            line, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True, float_mode="decimal"
        )
    except ValueError:
        return parse_json(line)
    return cast("JsonValue", value)
