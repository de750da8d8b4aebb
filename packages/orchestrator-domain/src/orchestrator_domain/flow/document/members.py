"""Objects with known members, and lists."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue, kind_of
from orchestrator_domain.flow.document.reading import UNREADABLE, Reading, Unreadable, nearest, shown

type Read[T] = Callable[[Reading, JsonValue, Pointer], T | Unreadable]
"""Reads one value at a place; on a fault it makes a finding and answers UNREADABLE."""


@frozen
class Member:
    """How one member is read, and whether it may be left out."""

    read: Read[Any]
    required: bool = True


def optional(read: Read[Any]) -> Member:
    return Member(read, required=False)


@frozen(kw_only=True)
class Members:
    """The members that were read well; `whole` unless one was missing, unknown or unreadable."""

    values: Mapping[str, Any]
    others: JsonObject
    whole: bool


def wrong_kind(reading: Reading, value: JsonValue, at: Pointer, wanted: str) -> Unreadable:
    return reading.fault("WRONG_KIND", at, f"Expected {wanted}, found {_indefinite(kind_of(value))}.")


def read_members(
    reading: Reading, value: JsonValue, at: Pointer, known: Mapping[str, Member], *, closed: bool = True
) -> Members | Unreadable:
    """Read an object by its table of members; in a closed one every other member is a finding."""
    if not isinstance(value, dict):
        return wrong_kind(reading, value, at, "an object")
    found_before = len(reading.findings)
    _missing(reading, value, at, known)
    values: dict[str, Any] = {}
    others: JsonObject = {}
    for name, item in value.items():
        member = known.get(name)
        if member is not None:
            read = member.read(reading, item, at.child(name))
            if read is not UNREADABLE:
                values[name] = read
        elif closed:
            _unknown(reading, name, at, [each for each in known if each not in value])
        else:
            others[name] = item
    return Members(values=values, others=others, whole=len(reading.findings) == found_before)


def read_list[T](reading: Reading, value: JsonValue, at: Pointer, read: Read[T]) -> list[T] | Unreadable:
    """Read every element; those that can't be read are left out."""
    if not isinstance(value, list):
        return wrong_kind(reading, value, at, "an array")
    elements = [read(reading, item, at.child(index)) for index, item in enumerate(value)]
    return [element for element in elements if not isinstance(element, Unreadable)]


def list_of[T](read: Read[T], *, empty: bool = True) -> Read[tuple[T, ...]]:
    """Return a reader of lists."""

    def read_all(reading: Reading, value: JsonValue, at: Pointer) -> tuple[T, ...] | Unreadable:
        if value == [] and not empty:
            return reading.fault("EMPTY_LIST", at, "This list needs at least one element.")
        elements = read_list(reading, value, at, read)
        return elements if isinstance(elements, Unreadable) else tuple(elements)

    return read_all


def map_of[T](read_name: Read[str], read: Read[T], *, empty: bool = True) -> Read[dict[str, T]]:
    """Return a reader of objects whose member names the author chooses."""

    def read_all(reading: Reading, value: JsonValue, at: Pointer) -> dict[str, T] | Unreadable:
        if not isinstance(value, dict):
            return wrong_kind(reading, value, at, "an object")
        if not value and not empty:
            return reading.fault("EMPTY_LIST", at, "This object needs at least one member.")
        entries: dict[str, T] = {}
        for name, item in value.items():
            key = read_name(reading, name, at.child(name))
            element = read(reading, item, at.child(name))
            if not isinstance(key, Unreadable) and not isinstance(element, Unreadable):
                entries[key] = element
        return entries

    return read_all


def _missing(reading: Reading, value: JsonObject, at: Pointer, known: Mapping[str, Member]) -> None:
    for name, member in known.items():
        if member.required and name not in value:
            reading.fault("MISSING_MEMBER", at, f"The member '{name}' is missing; add it.")


def _unknown(reading: Reading, name: str, at: Pointer, candidates: list[str]) -> None:
    message = f"The member {shown(name)} isn't known here; remove it or correct its name."
    reading.fault("UNKNOWN_MEMBER", at.child(name), message, nearest(name, candidates))


def _indefinite(kind: str) -> str:
    return kind if kind == "null" else f"{'an' if kind[0] in 'ao' else 'a'} {kind}"
