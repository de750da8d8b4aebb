"""A concrete context that lies in a box of cells."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from orchestrator_domain.decision.cells import Cells
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue


def context_in(
    box: Mapping[int, int], pointers: Sequence[Pointer], cells: Sequence[Cells]
) -> JsonObject | None:
    """Return a context in which each path of the box has a value out of its cells.

    None where there is no such context: below what is no container, nothing can be.
    """
    context: JsonObject = {}
    for number in sorted(box, key=lambda each: len(pointers[each].tokens)):
        allowed = _allowed(number, box, pointers, cells)
        if not allowed:
            return None
        value = cells[number].first(allowed)
        if value is not ABSENT:
            _write(context, pointers[number].tokens, {} if value == {} else value)
        if value is not ABSENT and pointers[number].resolve(context) != value:
            return None
    return context


def filled(context: JsonObject, pointers: Iterable[Pointer], value: JsonValue) -> JsonObject:
    """Return a context in which the value is at each of the pointers where nothing was and something can be."""
    copied = deepcopy(context)
    for pointer in pointers:
        _write(copied, pointer.tokens, value)
    return copied


def with_value_at(context: JsonObject, pointer: Pointer, value: JsonValue | Absent) -> JsonObject | None:
    """Return a context that differs at the pointer only, or None where nothing can be there."""
    copied = deepcopy(context)
    *above, last = pointer.tokens
    parent: Any = copied
    for token in above:
        parent = parent.setdefault(token, {})
        if not isinstance(parent, dict):
            return None
    parent.pop(last, None)
    if value is not ABSENT:
        parent[last] = deepcopy(value)
    return copied


def _allowed(number: int, box: Mapping[int, int], pointers: Sequence[Pointer], cells: Sequence[Cells]) -> int:
    allowed = box[number]
    for other, other_allowed in box.items():
        if other == number:
            continue
        needs_value = not other_allowed & cells[other].absent
        if needs_value and pointers[other].starts_with(pointers[number]):
            allowed &= cells[number].container
    above = [other for other in box if other != number and pointers[number].starts_with(pointers[other])]
    if any(not _is_container(other, box, pointers, cells) for other in above):
        allowed &= cells[number].absent
    return allowed


def _is_container(
    number: int, box: Mapping[int, int], pointers: Sequence[Pointer], cells: Sequence[Cells]
) -> bool:
    """Say whether the path is given an object, which it is if anything below it needs a value or nothing else fits."""
    chosen: Any = cells[number].first(_allowed(number, box, pointers, cells) or 1)
    return isinstance(chosen, dict)


def _write(context: JsonObject, tokens: Sequence[str], value: Any) -> None:
    *parents, last = tokens
    for token in parents:
        below = context.setdefault(token, {})
        if not isinstance(below, dict):
            return
        context = below
    context.setdefault(last, value)
