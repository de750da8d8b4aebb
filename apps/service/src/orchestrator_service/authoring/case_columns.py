"""The columns of a table of cases: each is a place in the case's document, with how its cells are read."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Final, Self

from attrs import frozen

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.pointer import InvalidPointer, Pointer
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue


class UnusableColumns(OrchestratorError):
    """A column's name is no place in a case, or a cell isn't what its column says."""

    code = "UNUSABLE_COLUMNS"


type ReadCell = Callable[[str], JsonValue]


def _number(text: str) -> JsonValue:
    value = parse_json(text.strip())
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise MalformedJson("The cell isn't a number.")
    return value


def _boolean(text: str) -> JsonValue:
    if text.strip() not in ("true", "false"):
        raise MalformedJson("The cell is neither true nor false.")
    return text.strip() == "true"


def _text(text: str) -> JsonValue:
    return text


_READERS: Final[Mapping[str, ReadCell]] = {"number": _number, "boolean": _boolean, "json": parse_json}


@frozen(kw_only=True)
class CaseColumns:
    """Columns in their order, none of which lies within another."""

    names: tuple[str, ...]
    places: tuple[Pointer, ...]
    readers: tuple[ReadCell, ...] = ()

    @classmethod
    def of_csv(cls, header: Sequence[str]) -> Self:
        """Read a header whose names end in `:number`, `:boolean`, `:json` or, for strings, nothing."""
        split = [name.strip().partition(":") for name in header]
        for name, colon, kind in split:
            if colon and kind not in _READERS:
                raise UnusableColumns(
                    f"The column '{name}' ends in no kind of cell; there are :number, :boolean and :json."
                )
        columns = cls.of_names([name for name, _, _ in split])
        readers = tuple(_READERS.get(kind, _text) for _, _, kind in split)
        return cls(names=columns.names, places=columns.places, readers=readers)

    @classmethod
    def of_names(cls, names: Iterable[str]) -> Self:
        """Read names as JSON Pointers whose leading slash may be left out; raise UnusableColumns."""
        written = tuple(names)
        places = tuple(map(_place, written))
        for number, place in enumerate(places):
            for other in (*places[:number], *places[number + 1 :]):
                if place.starts_with(other):
                    raise UnusableColumns(f"The column '{written[number]}' lies within another one.")
        return cls(names=written, places=places)

    def document_of_texts(self, cells: Sequence[str]) -> JsonObject:
        """Return the document that the cells of a line spell; an empty cell is absent."""
        document: JsonObject = {}
        for name, place, read, cell in zip(self.names, self.places, self.readers, cells, strict=True):
            if cell:
                try:
                    _put(document, place, read(cell))
                except MalformedJson as fault:
                    raise UnusableColumns(f"In the column '{name}': {fault.message}") from None
        return document

    def document_of_values(self, values: Sequence[JsonValue | Absent]) -> JsonObject:
        """Return the document that holds these values at the columns' places."""
        document: JsonObject = {}
        for place, value in zip(self.places, values, strict=True):
            if not isinstance(value, Absent):
                _put(document, place, value)
        return document


def _place(name: str) -> Pointer:
    try:
        place = Pointer.parse(name if name.startswith("/") else f"/{name}")
    except InvalidPointer as fault:
        raise UnusableColumns(f"The column '{name}' is no place in a case: {fault.message}") from None
    if "" in place.tokens:
        raise UnusableColumns("A column has no name, or an empty one between two slashes.")
    return place


def _put(document: JsonObject, place: Pointer, value: JsonValue) -> None:
    *parents, last = place.tokens
    for token in parents:
        child = document.setdefault(token, {})
        assert isinstance(child, dict), "no column lies within another"
        document = child
    document[last] = value
