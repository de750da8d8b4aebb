"""Where in a definition a run's fault comes from."""

from collections.abc import Sequence
from typing import Protocol

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.execution.completion import RunFault
from orchestrator_domain.flow.definition import FlowDefinition, Transition
from orchestrator_domain.identifiers import TransitionKey


class _Keyed(Protocol):
    @property
    def id(self) -> str: ...


def fault_place(flow: FlowDefinition, transition_key: TransitionKey, fault: RunFault) -> str:
    """Return the JSON Pointer of the action, rule, update or schema in the definition; at worst, the transition's."""
    number = _number(flow.transitions, transition_key)
    transition = flow.transitions[number]
    place = Pointer.root().child("transitions").child(str(number))
    match fault.detail:
        case {"action": str(action)}:
            return _action_place(place, transition, action, fault)
        case {"target": str(target)}:
            targets = [str(update.target) for update in transition.updates]
            return str(place.child("updates").child(str(targets.index(target))))
        case {"decision": str(decision)}:
            return _decision_place(flow, decision, fault)
        case _:
            return "/dataSchema" if fault.code == "DATA_SCHEMA_VIOLATION" else str(place)


def _action_place(place: Pointer, transition: Transition, action: str, fault: RunFault) -> str:
    at = place.child("actions").child(str(_number(transition.actions, action)))
    named = fault.detail.get("input")
    return str(at.child("inputs").child(named) if isinstance(named, str) else at)


def _decision_place(flow: FlowDefinition, decision: str, fault: RunFault) -> str:
    number = _number(flow.decisions, decision)
    at = Pointer.root().child("decisions").child(str(number))
    rule = fault.detail.get("rule")
    if isinstance(rule, str):
        at = at.child("rules").child(str(_number(flow.decisions[number].rules, rule)))
    return str(at)


def _number(keyed: Sequence[_Keyed], key: str) -> int:
    return next(number for number, each in enumerate(keyed) if each.id == key)
