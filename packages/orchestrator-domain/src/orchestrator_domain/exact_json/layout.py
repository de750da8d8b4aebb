"""How a JSON value becomes text without white space; the writers differ in numbers and in the order of members."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any, Final

from orchestrator_domain.exact_json.value import InexactJson, JsonObject, JsonValue, text_fault

_ESCAPES: Final = re.compile(r"\\(?:u0000|.)")

type _Names = Callable[[JsonObject], Iterable[str]]


def json_writer(
    *, integer: Callable[[int], str], decimal: Callable[[Decimal], str], names: _Names
) -> Callable[[JsonValue], str]:
    """Make a function that writes a value; it raises InexactJson for what isn't exact JSON.

    Strings are escaped as RFC 8785, section 3.2.2.2 says: only quote, backslash and control characters, with the short
    escapes where there are such and lower-case hex elsewhere.
    """

    def array(items: list[JsonValue]) -> str:
        return "[" + ",".join([writers[type(item)](item) for item in items]) + "]"

    def object_(value: JsonObject) -> str:
        pairs = [
            f"{encode_basestring(name)}:{writers[type(member := value[name])](member)}"
            for name in names(value)
        ]
        return "{" + ",".join(pairs) + "}"

    # A dispatch by exact type is what makes this fast enough for every command and every snapshot.
    writers: dict[type, Callable[[Any], str]] = {
        type(None): lambda _: "null",
        bool: lambda truth: "true" if truth else "false",
        int: integer,
        Decimal: decimal,
        str: encode_basestring,
        list: array,
        dict: object_,
    }

    def write(value: JsonValue) -> str:
        try:
            text = writers[type(value)](value)
        except KeyError as fault:
            raise InexactJson(f"A Python {fault.args[0].__name__} isn't exact JSON.") from None
        except RecursionError:
            raise InexactJson("The value is nested too deep to be written.") from None
        except (TypeError, ValueError):
            raise InexactJson("The value holds a number or a member name that isn't exact JSON.") from None
        if fault_text := written_fault(text):
            raise InexactJson(fault_text)
        return text

    return write


def written_fault(text: str) -> str | None:
    """Say why text that was written here can't be stored, although it is JSON, or None."""
    # What follows a backslash that is escaped itself is no escape.
    if "\\u0000" in text and "\\u0000" in _ESCAPES.findall(text):
        return text_fault("\0")
    return text_fault(text)
