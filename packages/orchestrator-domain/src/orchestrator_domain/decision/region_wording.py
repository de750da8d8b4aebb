"""Boxes of cells in words: `buro.score > 60 and ≤ 70`."""

from collections.abc import Iterator

from orchestrator_domain.decision.boxes import Box
from orchestrator_domain.decision.cells import Cells
from orchestrator_domain.decision.space import Space
from orchestrator_domain.decision.wording import path_in_words
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import ABSENT, JsonValue, Kind, kind_of


def box_in_words(box: Box, space: Space) -> str:
    """Say which contexts lie in the box."""
    parts = [
        _path_in_words(path_in_words(space.pointers[number]), cells, space.cells[number])
        for number, cells in sorted(box.items())
        if cells != space.cells[number].every
    ]
    return "; ".join(parts) or "always"


def _path_in_words(path: str, chosen: int, cells: Cells) -> str:
    kinds = [kind_of(each) for each in cells.representatives]
    numbers = kinds.count(Kind.NUMBER)
    strings = kinds.count(Kind.STRING)
    words = [*_intervals(chosen, cells.representatives[:numbers])]
    words += _strings(chosen >> numbers, cells.representatives[numbers : numbers + strings])
    for index, value in enumerate(cells.representatives[numbers + strings :], numbers + strings):
        if chosen >> index & 1:
            words.append("is absent" if value is ABSENT else _other(value))
    return f"{path} {', or '.join(words)}"


def _other(value: object) -> str:
    if isinstance(value, dict):
        return "is an array or an object"
    return "is null" if value is None else f"= {str(value).lower()}"


def _intervals(chosen: int, representatives: tuple[object, ...]) -> Iterator[str]:
    """Join cells that follow one another; those with odd numbers are the literals, the others lie between them."""
    count, index = len(representatives), 0
    while index < count:
        if not chosen >> index & 1:
            index += 1
            continue
        start = index
        while index < count and chosen >> index & 1:
            index += 1
        yield _interval(start, index - 1, representatives)


def _interval(first: int, last: int, representatives: tuple[object, ...]) -> str:
    if first == 0 and last == len(representatives) - 1:
        return "is a number"
    if first == last and first % 2:
        return f"= {_number(representatives[first])}"
    bounds = []
    if first > 0:
        bounds.append(
            f"≥ {_number(representatives[first])}"
            if first % 2
            else f"> {_number(representatives[first - 1])}"
        )
    if last < len(representatives) - 1:
        bounds.append(
            f"≤ {_number(representatives[last])}" if last % 2 else f"< {_number(representatives[last + 1])}"
        )
    return " and ".join(bounds)


def _strings(chosen: int, representatives: tuple[object, ...]) -> Iterator[str]:
    """Name the strings that were chosen; the last representative stands for every string that no literal is."""
    taken = [index for index in range(len(representatives)) if chosen >> index & 1]
    other = len(representatives) - 1
    if len(taken) == len(representatives):
        yield "is a string"
    elif other in taken:
        left = [_number(each) for index, each in enumerate(representatives[:-1]) if index not in taken]
        yield f"is a string other than {', '.join(left)}"
    else:
        yield from (f"= {_number(representatives[index])}" for index in taken)


def _number(value: object) -> str:
    shown: JsonValue = value  # type: ignore[assignment]  # a representative of a number or a string
    return dump_json(shown)
