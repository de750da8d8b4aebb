"""What lines of JSON have in common, so that those like one that was read strictly are read by their places alone.

A shape is the text of such a line with its scalars left open. A text that fits it has the same member names in the same
order, the same nesting and the same spaces. So no member occurs twice and nothing is nested too deep, for neither did or
was in the line itself. What is open takes only what strict reading takes: strings without any escape, whole or decimal
numbers of so few digits that no limit is near, `true`, `false`, `null`, and where the line had an array of scalars, any
other array of such. What fits no shape isn't refused by that; it is to be read strictly.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import repeat
from typing import Final, cast

from attrs import frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonScalar

_CHARACTERS_MAX: Final = 4096
# Possessive and atomic: what was passed is never tried again, so that a look takes linear time.
_SCALAR: Final = r'(?>"[^"\\\x00-\x1f]*+"|-?(?:0|[1-9][0-9]{0,17}+)(?:\.[0-9]{1,17}+)?+|true|false|null)'
_SCALARS: Final = rf"\[[ \t]*+(?:{_SCALAR}(?:[ \t]*+,[ \t]*+{_SCALAR})*+[ \t]*+)?\]"
_LEXEME: Final = re.compile(r'([ \t\r\n]*)([\[\]{},:]|"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+)')
_NAMED: Final[dict[str, JsonScalar]] = {"true": True, "false": False, "null": None}

type Texts = str | tuple[str, ...]
"""What was written at the places that are looked at: one text bare, several as a tuple."""


@frozen(kw_only=True)
class LineShape:
    """A pattern of lines; what it captures stands at the paths with these numbers, of `count` in all."""

    _one: re.Pattern[str]
    _many: re.Pattern[str]
    _paths: tuple[int, ...]
    _count: int

    def of_lines(self, text: str) -> list[Texts]:
        """Return the texts of each line that fits, in order; there are fewer than lines if one of them doesn't."""
        return self._many.findall(text)

    def of_line(self, line: str) -> Texts | None:
        found = self._one.fullmatch(line)
        if found is None:
            return None
        return found.groups() if len(self._paths) > 1 else str(found[1])

    def values(self, rows: Sequence[Texts]) -> Iterator[tuple[JsonScalar | Absent, ...]]:
        """Yield what is at each path in each row, as strict reading gives it; ABSENT where the shape has nothing."""
        columns: list[Iterable[JsonScalar | Absent]] = [[ABSENT] * len(rows)] * self._count
        texts = [cast("Sequence[str]", rows)] if len(self._paths) == 1 else zip(*rows, strict=True)
        for path, column in zip(self._paths, texts, strict=False):
            columns[path] = _scalars(column)
        return zip(*columns, strict=True) if columns else repeat((), len(rows))


def line_shape(line: str, paths: Sequence[Pointer]) -> LineShape | None:
    """Return the shape of a line that was read strictly and is an object, without its end of line.

    None where the line is too long, or a path leads to an object or an array, or through an array.
    """
    if len(line) > _CHARACTERS_MAX:
        return None
    drawn = _Drawn(line, paths)
    try:
        pattern = drawn.value(Pointer.root()) + drawn.rest()
    except _OtherThanScalar:
        return None
    # Whoever looks for the texts of no path gets an empty one for each line.
    pattern = pattern if drawn.captured else f"{pattern}()"
    return LineShape(
        one=re.compile(pattern),
        many=re.compile(f"^{pattern}$", re.MULTILINE),
        paths=tuple(drawn.captured),
        count=len(paths),
    )


def _scalars(texts: Sequence[str]) -> list[JsonScalar | Absent]:
    # Written out, for nothing else of a row costs as much as this.
    return [Decimal(text) if "." in text and text[0] != '"' else _plain(text) for text in texts]


def _plain(text: str) -> JsonScalar:
    if text[0] == '"':
        return text[1:-1]
    return _NAMED[text] if text in _NAMED else int(text)


class _OtherThanScalar(Exception):
    """What a path leads to, or through, isn't told by one scalar's text."""


class _Drawn:
    """A line's pattern in the making; `captured` has the numbers of the paths that it captures, in their order."""

    def __init__(self, line: str, paths: Sequence[Pointer]) -> None:
        self._line = line
        self._paths = paths
        self._lexemes: Iterator[re.Match[str]] = _LEXEME.finditer(line)
        self._end = 0
        self.captured: list[int] = []

    def value(self, place: Pointer) -> str:
        return self._value(self._next(), place)

    def rest(self) -> str:
        return re.escape(self._line[self._end :])

    def _value(self, lexeme: re.Match[str], place: Pointer) -> str:
        if lexeme[2] == "{":
            return self._object(lexeme, place)
        if lexeme[2] == "[":
            return self._array(lexeme, place)
        if place in self._paths:
            self.captured.append(self._paths.index(place))
            return f"{_space(lexeme)}({_SCALAR})"
        return f"{_space(lexeme)}{_SCALAR}"

    def _object(self, lexeme: re.Match[str], place: Pointer) -> str:
        if place in self._paths:
            raise _OtherThanScalar
        pattern, lexeme = _literal(lexeme), self._next()
        while lexeme[2] != "}":
            if lexeme[2] == ",":
                pattern, lexeme = pattern + _literal(lexeme), self._next()
            name = cast("str", parse_json(lexeme[2]))
            pattern += _literal(lexeme) + _literal(self._next()) + self.value(place.child(name))
            lexeme = self._next()
        return pattern + _literal(lexeme)

    def _array(self, opening: re.Match[str], place: Pointer) -> str:
        if any(path.starts_with(place) for path in self._paths):
            raise _OtherThanScalar
        elements, lexeme = _literal(opening), self._next()
        of_scalars = True
        while lexeme[2] != "]":
            if lexeme[2] == ",":
                elements, lexeme = elements + _literal(lexeme), self._next()
            of_scalars = of_scalars and lexeme[2] not in "[{"
            elements, lexeme = elements + self._value(lexeme, place.child("-")), self._next()
        return _space(opening) + _SCALARS if of_scalars else elements + _literal(lexeme)

    def _next(self) -> re.Match[str]:
        lexeme = next(self._lexemes)
        self._end = lexeme.end()
        return lexeme


def _space(lexeme: re.Match[str]) -> str:
    return re.escape(lexeme[1])


def _literal(lexeme: re.Match[str]) -> str:
    return re.escape(lexeme[0])
