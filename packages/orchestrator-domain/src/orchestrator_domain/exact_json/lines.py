"""Many JSON texts, one a line, read as exactly as one and with less work for each."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import batched, repeat
from operator import add
from typing import Final

import jiter

from orchestrator_domain.exact_json.limits import DEFAULT_LIMITS
from orchestrator_domain.exact_json.scan import numbers_are_surely_within
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject

_LINES_AT_ONCE: Final = 512


def parse_json_lines(lines: Iterable[bytes], *, before: int = 0) -> Iterator[JsonObject]:
    """Yield the object of each line, as `parse_json` reads it, in order; lines of white space are skipped.

    `before` is how many lines went before these. Raises MalformedJson with the number of the first line that holds no JSON object, once those before it were yielded.
    """
    for number, some in enumerate(batched(lines, _LINES_AT_ONCE)):
        quickly = _are_surely_plain(some)
        for place, line in enumerate(some, start=before + number * _LINES_AT_ONCE + 1):
            try:
                value = _read(line) if quickly else None
            except ValueError:
                # A closer look says what is wrong with the line.
                value = None
            if type(value) is dict:
                yield value
            elif (found := parse_json_line(line, place)) is not None:
                yield found


def parse_json_line(line: bytes, place: int) -> JsonObject | None:
    """Return the object of one line, as `parse_json` reads it; None for white space.

    Raises MalformedJson with the line's number, `place`.
    """
    return _object(line, place) if line and not line.isspace() else None


def _are_surely_plain(some: Sequence[bytes]) -> bool:
    """Say that none of the lines can hold what only a look at each could find."""
    lines = b"\n".join(some)
    return (
        (b"\\" not in lines or b"\\u0000" not in lines)
        and numbers_are_surely_within(lines)
        and _is_utf_8(lines)
        and _openings_max(some) <= DEFAULT_LIMITS.depth_max
    )


def _openings_max(some: Sequence[bytes]) -> int:
    """Return how many arrays and objects the line that holds most of them opens, or seems to."""
    objects = map(bytes.count, some, repeat(b"{"))
    arrays = map(bytes.count, some, repeat(b"["))
    found: int = max(map(add, objects, arrays))
    return found


def _is_utf_8(lines: bytes) -> bool:
    try:
        lines.decode()
    except UnicodeDecodeError:
        return False
    return True


_read: Final = partial(
    jiter.from_json, allow_inf_nan=False, cache_mode="keys", catch_duplicate_keys=True, float_mode="decimal"
)


def _object(line: bytes, place: int) -> JsonObject:
    try:
        value = parse_json(line)
    except MalformedJson as fault:
        raise MalformedJson(fault.message, line=place, column=fault.column) from None
    if not isinstance(value, dict):
        raise MalformedJson("A line holds one JSON object.", line=place, column=1)
    return value
