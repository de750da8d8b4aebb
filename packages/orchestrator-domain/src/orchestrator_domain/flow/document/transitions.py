"""Transitions with their actions, routes and updates."""

from typing import Any, Final

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.definition import (
    ActionDefinition,
    ByDecision,
    Directly,
    Route,
    Transition,
    Update,
)
from orchestrator_domain.flow.document.conditions import read_condition, read_operand
from orchestrator_domain.flow.document.members import Member, list_of, map_of, optional, read_members
from orchestrator_domain.flow.document.reading import UNREADABLE, Reading, Unreadable
from orchestrator_domain.flow.document.scalars import (
    data_pointer,
    key,
    name,
    outputs,
    positive_integer,
    roles,
)


def read_transition(reading: Reading, value: JsonValue, at: Pointer) -> Transition | Unreadable:
    """Read a transition, which is routed either by a decision or to one state."""
    found = read_members(reading, value, at, _TRANSITION)
    if isinstance(found, Unreadable):
        return found
    well_routed = isinstance(value, dict) and _check_route(reading, set(value), at)
    if not (found.whole and well_routed):
        return UNREADABLE
    return reading.placed(_transition(found.values), at)


def _check_route(reading: Reading, written: set[str], at: Pointer) -> bool:
    if "decision" in written or "destinations" in written:
        return _check_decided_route(reading, written, at)
    if "to" not in written:
        message = "A transition needs 'decision' with 'destinations', or 'to'."
        reading.fault("MISSING_MEMBER", at, message)
    return "to" in written


def _check_decided_route(reading: Reading, written: set[str], at: Pointer) -> bool:
    missing = {"decision", "destinations"} - written
    for member in sorted(missing):
        reading.fault("MISSING_MEMBER", at, f"The member '{member}' is missing; a decided route needs it.")
    conflicting = {"to", "outcome"} & written
    for member in sorted(conflicting):
        message = f"'{member}' can't stand beside a decision, which chooses state and outcome; remove it."
        reading.fault("CONFLICTING_MEMBERS", at.child(member), message)
    return not missing and not conflicting


def _transition(values: Any) -> Transition:
    return Transition(
        id=values["id"],
        from_state=values["from"],
        event=values["event"],
        allowed_roles=values["allowedRoles"],
        guard=values.get("guard"),
        actions=values.get("actions", ()),
        route=_route(values),
        updates=values.get("updates", ()),
    )


def _route(values: Any) -> Route:
    if "to" in values:
        return Directly(to=values["to"], outcome=values.get("outcome", values["id"]))
    return ByDecision(decision=values["decision"], destinations=values["destinations"])


def _read_action(reading: Reading, value: JsonValue, at: Pointer) -> ActionDefinition | Unreadable:
    found = read_members(reading, value, at, _ACTION, closed=False)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    values = found.values
    action = ActionDefinition(
        id=values["id"],
        type=values["type"],
        integration_key=values.get("integrationKey"),
        profile=values.get("profile"),
        contract_version=values.get("contractVersion"),
        inputs=values["inputs"],
        result_key=values["resultKey"],
        configuration=found.others,
    )
    return reading.placed(action, at)


def _read_update(reading: Reading, value: JsonValue, at: Pointer) -> Update | Unreadable:
    found = read_members(reading, value, at, _UPDATE)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    return reading.placed(Update(**found.values), at)


_ACTION: Final = {
    "id": Member(key),
    "type": Member(key),
    "integrationKey": optional(key),
    "profile": optional(key),
    "contractVersion": optional(positive_integer),
    "inputs": Member(map_of(name, read_operand)),
    "resultKey": Member(key),
}
_UPDATE: Final = {"target": Member(data_pointer), "value": Member(read_operand), "outputs": optional(outputs)}
_TRANSITION: Final = {
    "id": Member(key),
    "from": Member(key),
    "event": Member(key),
    "allowedRoles": Member(roles),
    "guard": optional(read_condition),
    "actions": optional(list_of(_read_action)),
    "decision": optional(key),
    "destinations": optional(map_of(key, key, empty=False)),
    "to": optional(key),
    "outcome": optional(key),
    "updates": optional(list_of(_read_update)),
}
