"""Where each part of a JSON text stands, as people count: lines and columns from 1, columns in characters."""

import re
from collections.abc import Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]  # the reader of strings alone isn't in the stubs
from typing import Final

from attrs import define, field, frozen

from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer

_BLANK: Final = re.compile(r"[ \t\r\n]*+")
_SCALAR: Final = re.compile(r"[^ \t\r\n,\]}]++")


@frozen(kw_only=True)
class Position:
    line: int
    column: int


@frozen(kw_only=True)
class Positions:
    """The places of all values of one text; those of members begin at their names."""

    _places: Mapping[tuple[str, ...], Position]

    def of(self, pointer: str) -> Position:
        """Return where the pointer leads, or the nearest place above it that the text has."""
        try:
            tokens = Pointer.parse(pointer).tokens
        except InvalidPointer:
            tokens = ()
        while tokens and tokens not in self._places:
            tokens = tokens[:-1]
        return self._places.get(tokens, Position(line=1, column=1))


def positions_in(text: str) -> Positions:
    """Locate every value of a text that `parse_json` takes."""
    walk = _Walk(text=text)
    walk.value(())
    return Positions(places=walk.places)


@define(kw_only=True)
class _Walk:
    """Read once from start to end, keeping count of the lines that were passed."""

    text: str
    places: dict[tuple[str, ...], Position] = field(factory=dict)
    _at: int = 0
    _line: int = 1
    _line_start: int = 0

    def value(self, tokens: tuple[str, ...]) -> None:
        self._skip_blank()
        self.places.setdefault(tokens, self._here())
        match self.text[self._at : self._at + 1]:
            case "{":
                self._members(tokens)
            case "[":
                self._elements(tokens)
            case '"':
                self._string()
            case _:
                self._at = self._end_of(_SCALAR)

    def _members(self, tokens: tuple[str, ...]) -> None:
        while self._opens_another("}"):
            here = self._here()
            name = (*tokens, self._string())
            self.places[name] = here
            self._skip_blank()
            self._at += 1
            self.value(name)

    def _elements(self, tokens: tuple[str, ...]) -> None:
        index = 0
        while self._opens_another("]"):
            self.value((*tokens, str(index)))
            index += 1

    def _opens_another(self, closing: str) -> bool:
        """Pass the bracket or comma, and say whether something follows before the closing bracket."""
        self._skip_blank()
        if self.text[self._at] != closing:
            self._at += 1
            self._skip_blank()
        if self.text[self._at] != closing:
            return True
        self._at += 1
        return False

    def _string(self) -> str:
        found, self._at = scanstring(self.text, self._at + 1)
        return str(found)

    def _skip_blank(self) -> None:
        end = self._end_of(_BLANK)
        newlines = self.text.count("\n", self._at, end)
        if newlines:
            self._line += newlines
            self._line_start = self.text.rfind("\n", self._at, end) + 1
        self._at = end

    def _end_of(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self.text, self._at)
        return found.end() if found is not None else self._at

    def _here(self) -> Position:
        return Position(line=self._line, column=self._at - self._line_start + 1)
