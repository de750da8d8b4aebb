"""The document as a whole, with its states, events, tasks and schemas."""

from collections.abc import Iterable
from typing import Any, Final

from attrs import evolve

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.definition import (
    Creation,
    Event,
    FlowDefinition,
    RestrictedPath,
    State,
    Task,
)
from orchestrator_domain.flow.document.decisions import read_decision
from orchestrator_domain.flow.document.members import Member, list_of, map_of, optional, read_members
from orchestrator_domain.flow.document.reading import UNREADABLE, Reading, Unreadable, shown
from orchestrator_domain.flow.document.scalars import (
    data_pointer,
    flag,
    json_object,
    json_schema,
    key,
    positive_integer,
    roles,
    schema_version,
    text,
)
from orchestrator_domain.flow.document.transitions import read_transition
from orchestrator_domain.identifiers import FlowKey, StateKey


def read_parts(reading: Reading, document: JsonValue, at: Pointer) -> FlowDefinition | Unreadable:
    """Read whatever can be read of the document; it is a definition only if no finding was made."""
    found = read_members(reading, document, at, _FLOW)
    if isinstance(found, Unreadable) or not isinstance(document, dict):
        return UNREADABLE
    _duplicate_keys(reading, document, at)
    return _flow(document, found.values)


def _flow(document: JsonObject, values: Any) -> FlowDefinition:
    return FlowDefinition(
        document=document,
        flow_key=values.get("flowKey", FlowKey("")),
        version=values.get("version", 0),
        title=values.get("title"),
        description=values.get("description"),
        initial_state=values.get("initialState", StateKey("")),
        states=values.get("states", ()),
        events=values.get("events", ()),
        transitions=values.get("transitions", ()),
        decisions=values.get("decisions", ()),
        tasks=values.get("tasks", ()),
        creation=values.get("creation"),
        data_schema=values.get("dataSchema"),
        schemas=values.get("schemas", {}),
        restricted_data=values.get("restrictedData", ()),
    )


# Keys that may be written once only, each with the list that it is a key of.

_KEYED_LISTS: Final = {"states": "key", "events": "key", "transitions": "id", "decisions": "id"}


def _duplicate_keys(reading: Reading, document: JsonObject, at: Pointer) -> None:
    for member, key_member in _KEYED_LISTS.items():
        _once(reading, document.get(member), at.child(member), key_member)
    for index, transition in _objects(document.get("transitions")):
        actions = at.child("transitions").child(index).child("actions")
        _once(reading, transition.get("actions"), actions, "id")
        _once(reading, transition.get("actions"), actions, "resultKey")
    for index, decision in _objects(document.get("decisions")):
        _once(reading, decision.get("rules"), at.child("decisions").child(index).child("rules"), "id")


def _once(reading: Reading, elements: JsonValue, at: Pointer, key_member: str) -> None:
    seen = set()
    for index, element in _objects(elements):
        written = element.get(key_member)
        if isinstance(written, str) and written in seen:
            message = f"{shown(written)} is used already in this list; choose another '{key_member}'."
            reading.fault("DUPLICATE_KEY", at.child(index).child(key_member), message)
        elif isinstance(written, str):
            seen.add(written)


def _objects(elements: JsonValue) -> Iterable[tuple[int, JsonObject]]:
    if isinstance(elements, list):
        yield from ((index, element) for index, element in enumerate(elements) if isinstance(element, dict))


# The parts.


def _read_state(reading: Reading, value: JsonValue, at: Pointer) -> State | Unreadable:
    found = read_members(reading, value, at, _STATE)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    return reading.placed(State(**found.values), at)


def _read_event(reading: Reading, value: JsonValue, at: Pointer) -> Event | Unreadable:
    found = read_members(reading, value, at, _EVENT)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    event = Event(
        key=found.values["key"],
        input_schema=found.values["inputSchema"],
        title=found.values.get("title"),
    )
    return reading.placed(event, at)


def _read_creation(reading: Reading, value: JsonValue, at: Pointer) -> Creation | Unreadable:
    found = read_members(reading, value, at, _CREATION)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    creation = Creation(input_schema=found.values["inputSchema"])
    if "allowedRoles" in found.values:
        creation = evolve(creation, allowed_roles=found.values["allowedRoles"])
    return reading.placed(creation, at)


def _read_restricted_path(reading: Reading, value: JsonValue, at: Pointer) -> RestrictedPath | Unreadable:
    found = read_members(reading, value, at, _RESTRICTED_PATH)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    restricted = RestrictedPath(path=found.values["path"], allowed_roles=found.values["allowedRoles"])
    return reading.placed(restricted, at)


def _read_task(reading: Reading, value: JsonValue, at: Pointer) -> Task | Unreadable:
    found = read_members(reading, value, at, _TASK)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    task = Task(
        state=found.values["state"],
        event=found.values["event"],
        ui=found.values["ui"],
        input_schema=found.values.get("inputSchema"),
    )
    return reading.placed(task, at)


_STATE: Final = {"key": Member(key), "terminal": Member(flag), "title": optional(text)}
_EVENT: Final = {"key": Member(key), "inputSchema": Member(json_schema), "title": optional(text)}
_CREATION: Final = {"inputSchema": Member(json_schema), "allowedRoles": optional(roles)}
_RESTRICTED_PATH: Final = {"path": Member(data_pointer), "allowedRoles": Member(roles)}
_TASK: Final = {
    "state": Member(key),
    "event": Member(key),
    "ui": Member(json_object),
    "inputSchema": optional(json_schema),
}
_FLOW: Final = {
    "$schema": optional(text),
    "schemaVersion": Member(schema_version),
    "flowKey": Member(key),
    "version": Member(positive_integer),
    "title": optional(text),
    "description": optional(text),
    "initialState": Member(key),
    "states": Member(list_of(_read_state, empty=False)),
    "creation": optional(_read_creation),
    "dataSchema": optional(json_schema),
    "schemas": optional(map_of(key, json_schema)),
    "restrictedData": optional(list_of(_read_restricted_path)),
    "events": Member(list_of(_read_event)),
    "transitions": Member(list_of(read_transition)),
    "decisions": optional(list_of(read_decision)),
    "tasks": optional(list_of(_read_task)),
}
