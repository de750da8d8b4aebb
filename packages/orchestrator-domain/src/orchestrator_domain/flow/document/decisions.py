"""Decisions and their rules."""

from typing import Final

from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.document.conditions import read_condition
from orchestrator_domain.flow.document.members import Member, list_of, optional, read_members
from orchestrator_domain.flow.document.reading import UNREADABLE, Reading, Unreadable, nearest
from orchestrator_domain.flow.document.scalars import key


def read_decision(reading: Reading, value: JsonValue, at: Pointer) -> DecisionDefinition | Unreadable:
    """Read a decision; UNIQUE unless FIRST is written out."""
    found = read_members(reading, value, at, _DECISION)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    values = found.values
    decision = DecisionDefinition(
        id=values["id"],
        hit_policy=values.get("hitPolicy", HitPolicy.UNIQUE),
        rules=values["rules"],
        default_output=values["defaultOutput"],
    )
    return reading.placed(decision, at)


def _read_rule(reading: Reading, value: JsonValue, at: Pointer) -> Rule | Unreadable:
    found = read_members(reading, value, at, _RULE)
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    return reading.placed(Rule(**found.values), at)


def _read_hit_policy(reading: Reading, value: JsonValue, at: Pointer) -> HitPolicy | Unreadable:
    if isinstance(value, str) and value in HitPolicy:
        return HitPolicy(value)
    near = nearest(value, HitPolicy) if isinstance(value, str) else None
    return reading.fault("UNKNOWN_HIT_POLICY", at, "A hit policy is UNIQUE or FIRST.", near)


_RULE: Final = {"id": Member(key), "when": Member(read_condition), "output": Member(key)}
_DECISION: Final = {
    "id": Member(key),
    "hitPolicy": optional(_read_hit_policy),
    "rules": Member(list_of(_read_rule, empty=False)),
    "defaultOutput": Member(key),
}
