"""JSON Pointers (RFC 6901)."""

import re
from typing import ClassVar, Self

from attrs import frozen

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue, escaped_token

_STRAY_TILDE = re.compile(r"~(?![01])")
# Eighteen digits are more than any array has elements, and few enough for int().
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")


class InvalidPointer(OrchestratorError):
    """The text isn't a JSON Pointer, or the pointer doesn't lie below the prefix it was to be cut by."""

    code: ClassVar[str] = "INVALID_POINTER"


@frozen(kw_only=True)
class Pointer:
    """A place in a JSON value; `str()` writes it as it is read by `parse`."""

    tokens: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pointer; the empty text is the whole value. Raises InvalidPointer."""
        if not text:
            return cls(tokens=())
        if not text.startswith("/"):
            raise InvalidPointer("A JSON Pointer is empty or starts with '/'.")
        if _STRAY_TILDE.search(text):
            raise InvalidPointer(
                "In a JSON Pointer '~' is written '~0' and '/' inside a name is written '~1'."
            )
        # '~01' is '~1': the tilde comes last.
        return cls(tokens=tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/")))

    @classmethod
    def root(cls) -> Self:
        return cls(tokens=())

    def __str__(self) -> str:
        return "".join(["/" + escaped_token(token) for token in self.tokens])

    def child(self, token: str | int) -> Self:
        return type(self)(tokens=(*self.tokens, str(token)))

    def starts_with(self, other: "Pointer") -> bool:
        """Compare whole tokens: `/ab` doesn't start with `/a`, and every pointer starts with itself."""
        return self.tokens[: len(other.tokens)] == other.tokens

    def without_prefix(self, other: "Pointer") -> Self:
        """Return the rest below `other`. Raises InvalidPointer where there is none."""
        if not self.starts_with(other):
            raise InvalidPointer("The pointer doesn't start with the prefix that was to be cut off.")
        return type(self)(tokens=self.tokens[len(other.tokens) :])

    def resolve(self, value: JsonValue) -> JsonValue | Absent:
        """Return what lies there, or ABSENT where nothing does, also below a scalar.

        An array's elements are named by their index in plain digits; `-` and leading zeros name nothing.
        """
        found: JsonValue | Absent = value
        for token in self.tokens:
            if type(found) is dict:
                found = found.get(token, ABSENT)
            elif type(found) is list:
                found = _element(found, token)
            else:
                return ABSENT
        return found


def _element(array: list[JsonValue], token: str) -> JsonValue | Absent:
    if not _INDEX.fullmatch(token):
        return ABSENT
    index = int(token)
    return array[index] if index < len(array) else ABSENT
