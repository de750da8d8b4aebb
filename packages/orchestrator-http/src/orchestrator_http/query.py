"""Query parameters, read so that two readers can't read them differently."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote_to_bytes

from orchestrator_http.refusals import InvalidQuery

_CHARACTERS_MAX: Final = 4096
_PARTS_MAX: Final = 50


def read_query(query: bytes, *, known: frozenset[str]) -> Mapping[str, str]:
    """Return the parameters of a query string; raise InvalidQuery for any that is unknown, repeated or unreadable.

    Values are UTF-8 without control characters; a parameter without a value is the empty string.
    """
    if len(query) > _CHARACTERS_MAX or query.count(b"&") >= _PARTS_MAX:
        raise InvalidQuery("The query is longer than is taken here.")
    found: dict[str, str] = {}
    for part in filter(None, query.split(b"&")):
        name, _, value = part.partition(b"=")
        _add(found, _text(name), _text(value), known)
    return found


def whole_number(parameters: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    """Return a parameter that is a decimal number within bounds; raise InvalidQuery for anything else."""
    text = parameters.get(name)
    if text is None:
        return default
    # Neither signs nor digits of other scripts, which int() would take.
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and least <= int(text) <= most):
        raise InvalidQuery(f"The parameter {name} must be a whole number from {least} to {most}.")
    return int(text)


def _add(found: dict[str, str], name: str, value: str, known: frozenset[str]) -> None:
    if name not in known:
        takes = ", ".join(sorted(known)) or "none"
        raise InvalidQuery(f"The query has an unknown parameter; this resource takes {takes}.")
    if name in found:
        raise InvalidQuery(f"The parameter {name} occurs more than once: send it once.")
    found[name] = value


def _text(part: bytes) -> str:
    try:
        text = unquote_to_bytes(part.replace(b"+", b" ")).decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidQuery("The query isn't UTF-8.") from None
    if not text.isprintable():
        raise InvalidQuery("The query holds characters that can't be printed.")
    return text
