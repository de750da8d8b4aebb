"""A sound flow at all limits: 200 states, 500 transitions, a mebibyte of canonical JSON."""

from typing import Any

from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import Sha256Hex

_LIMITS = FlowLimits()
_EVENTS = 3
_DECISIONS = 60
_DATA = {f"field{number}": {"type": "number"} for number in range(20)}
_RULES_IN_THE_LARGEST = 90


def largest_flow() -> Any:
    """Return a document that fills a definition's bytes to a hundredth; it has no finding beyond information."""
    document = _flow()
    room = _LIMITS.definition_bytes_max - len(canonical_bytes(document))
    more = room // (len(canonical_bytes(_actions("t499", 10)[-1])) + 1)
    for number, transition in enumerate(document["transitions"]):
        here = more // _LIMITS.transitions_max + (number < more % _LIMITS.transitions_max)
        transition["actions"] += _actions(transition["id"], 1 + here)[1:]
    used = len(canonical_bytes(document))
    if not 0.95 <= used / _LIMITS.definition_bytes_max <= 1:
        raise AssertionError(f"the flow has {used} bytes, which is not what it is made for")
    return document


def resolve_contract(action: ActionDefinition) -> ActionContract:
    """Answer for the actions of the flow as a catalogue would."""
    return ActionContract(
        action_type=action.type,
        integration_key=action.integration_key,
        contract_version=1,
        profile=None,
        profile_version=None,
        checksum=Sha256Hex("0" * 64),
        effect=Effect.READ_ONLY,
        input_schema={
            "type": "object",
            "required": ["input"],
            "additionalProperties": False,
            "properties": {"input": {"type": "number"}},
        },
        output_schema={
            "type": "object",
            "properties": {"score": {"type": "number"}, "found": {"type": "boolean"}},
        },
    )


def _flow() -> Any:
    states = _LIMITS.states_max
    return {
        "schemaVersion": 1,
        "flowKey": "LARGEST",
        "version": 1,
        "initialState": "s0",
        "states": [{"key": f"s{number}", "terminal": number == states - 1} for number in range(states)],
        "dataSchema": {"type": "object", "additionalProperties": False, "properties": _DATA},
        "events": [
            {"key": f"e{number}", "inputSchema": {"type": "object", "properties": _DATA}}
            for number in range(_EVENTS)
        ],
        "transitions": [_transition(number) for number in range(_LIMITS.transitions_max)],
        "decisions": [_decision(number) for number in range(_DECISIONS)],
    }


def _transition(number: int) -> Any:
    origin, event = number % (_LIMITS.states_max - 1), number // (_LIMITS.states_max - 1)
    key = f"t{number}"
    return {
        "id": key,
        "from": f"s{origin}",
        "event": f"e{event}",
        "allowedRoles": ["ANALYST", "MANAGER"],
        "guard": {"op": "EXISTS", "arg": {"path": f"/request/data/field{number % len(_DATA)}"}},
        "actions": _actions(key, 1),
        "decision": f"d{number % _DECISIONS}",
        "destinations": {"ONWARD": f"s{origin + 1}", "STAY": f"s{origin}"},
        "updates": [
            {
                "target": f"/field{number % len(_DATA)}",
                "value": {"path": f"/results/{key}-0/score"},
                "outputs": ["ONWARD"],
            }
        ],
    }


def _actions(transition: str, count: int) -> list[Any]:
    return [
        {
            "id": f"{transition}-{number}",
            "type": "INVOKE_INTEGRATION",
            "integrationKey": "SCORES",
            "inputs": {"input": {"path": f"/event/data/field{number % len(_DATA)}"}},
            "resultKey": f"{transition}-{number}",
            "description": f"Ask for the score of the part {number} of the case at hand",
        }
        for number in range(count)
    ]


def _decision(number: int) -> Any:
    size = _RULES_IN_THE_LARGEST if number == 0 else 15
    return {
        "id": f"d{number}",
        "rules": [
            {
                "id": f"r{rule}",
                "when": {
                    "op": "AND",
                    "args": [
                        _comparison("GT", "a", 10 * rule),
                        _comparison("LTE", "a", 10 * rule + 10),
                        _comparison("GT", "b", rule % 7),
                        _comparison("LT", "c", 100 - rule % 5),
                    ],
                },
                "output": "ONWARD",
            }
            for rule in range(size)
        ],
        "defaultOutput": "STAY",
    }


def _comparison(operator: str, field: str, literal: int) -> Any:
    names = {"a": "field0", "b": "field1", "c": "field2"}
    return {"op": operator, "left": {"path": f"/request/data/{names[field]}"}, "right": {"literal": literal}}
