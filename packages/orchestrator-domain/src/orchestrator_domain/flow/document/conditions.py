"""Operands and conditions."""

from typing import Any, Final

from orchestrator_domain.decision.condition import (
    Comparator,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Existence,
    LiteralOperand,
    Membership,
    Negation,
    Operand,
    PathOperand,
)
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.document.members import Member, Members, list_of, read_members, wrong_kind
from orchestrator_domain.flow.document.reading import UNREADABLE, Reading, Unreadable, nearest
from orchestrator_domain.flow.document.scalars import anything, context_pointer

CONDITION_DEPTH_MAX: Final = 25
"""What the reader survives whatever an operator allows; two JSON levels for each fit below the nesting limit of 64."""

_COMPARATORS: Final = frozenset(Comparator)
_OPERATORS: Final = (*Comparator, "IN", "EXISTS", "AND", "OR", "NOT")


def read_operand(reading: Reading, value: JsonValue, at: Pointer) -> Operand | Unreadable:
    """Read `{"path": pointer}` or `{"literal": any JSON}`."""
    if isinstance(value, dict) and "literal" in value and "path" not in value:
        literal = read_members(reading, value, at, {"literal": Member(anything)})
        return _built(reading, literal, at, lambda found: LiteralOperand(value=found["literal"]))
    if isinstance(value, dict) and "literal" in value:
        message = "An operand is either a path or a literal; remove one of the two members."
        return reading.fault("CONFLICTING_MEMBERS", at, message)
    if isinstance(value, dict) and "path" not in value:
        reading.fault("MISSING_MEMBER", at, "An operand needs the member 'path' or the member 'literal'.")
        return _only_unknown(reading, value, at)
    return _read_path(reading, value, at)


def read_condition(reading: Reading, value: JsonValue, at: Pointer) -> Condition | Unreadable:
    """Read a condition of any operator, no deeper than is survived."""
    return _read_condition(reading, value, at, 1)


def _read_condition(reading: Reading, value: JsonValue, at: Pointer, depth: int) -> Condition | Unreadable:
    if depth > CONDITION_DEPTH_MAX:
        message = f"Conditions are nested at most {CONDITION_DEPTH_MAX} deep; split the rule."
        return reading.fault("CONDITION_TOO_DEEP", at, message)
    if not isinstance(value, dict):
        return wrong_kind(reading, value, at, "a condition (an object with 'op')")
    operator = value.get("op")
    if "op" not in value:
        return reading.fault("MISSING_MEMBER", at, "A condition needs the member 'op'.")
    if operator not in _OPERATORS:
        return _unknown_operator(reading, operator, at.child("op"))
    return _read_operator(reading, value, at, str(operator), depth)


def _read_operator(
    reading: Reading, value: JsonObject, at: Pointer, operator: str, depth: int
) -> Condition | Unreadable:
    def inner(reading: Reading, value: JsonValue, at: Pointer) -> Condition | Unreadable:
        return _read_condition(reading, value, at, depth + 1)

    table = {"op": Member(anything)}
    match operator:
        case "IN":
            table |= {"left": Member(read_operand), "right": Member(_read_list_operand)}
        case "EXISTS":
            table |= {"arg": Member(_read_path)}
        case "AND" | "OR":
            table |= {"args": Member(list_of(inner, empty=False))}
        case "NOT":
            table |= {"arg": Member(inner)}
        case _:
            table |= {"left": Member(read_operand), "right": Member(read_operand)}
    return _built(reading, read_members(reading, value, at, table), at, _condition)


def _condition(found: dict[str, Any]) -> Condition:
    match found["op"]:
        case "IN":
            return Membership(left=found["left"], right=found["right"])
        case "EXISTS":
            return Existence(pointer=found["arg"].pointer)
        case "AND":
            return Conjunction(operands=found["args"])
        case "OR":
            return Disjunction(operands=found["args"])
        case "NOT":
            return Negation(operand=found["arg"])
        case operator:
            return Comparison(operator=Comparator(operator), left=found["left"], right=found["right"])


def _read_path(reading: Reading, value: JsonValue, at: Pointer) -> PathOperand | Unreadable:
    found = read_members(reading, value, at, {"path": Member(context_pointer)})
    return _built(reading, found, at, lambda values: PathOperand(pointer=values["path"]))


def _read_list_operand(reading: Reading, value: JsonValue, at: Pointer) -> Operand | Unreadable:
    operand = read_operand(reading, value, at)
    if isinstance(operand, LiteralOperand) and not isinstance(operand.value, list):
        return wrong_kind(reading, operand.value, at.child("literal"), "an array")
    return operand


def _unknown_operator(reading: Reading, operator: JsonValue, at: Pointer) -> Unreadable:
    if not isinstance(operator, str):
        return wrong_kind(reading, operator, at, "the name of an operator")
    message = f"This operator isn't known; use one of {', '.join(_OPERATORS)}."
    return reading.fault("UNKNOWN_OPERATOR", at, message, nearest(operator, _OPERATORS))


def _only_unknown(reading: Reading, value: JsonObject, at: Pointer) -> Unreadable:
    read_members(reading, value, at, {"path": Member(anything, required=False)})
    return UNREADABLE


def _built[T](reading: Reading, found: Members | Unreadable, at: Pointer, build: Any) -> T | Unreadable:
    if isinstance(found, Unreadable) or not found.whole:
        return UNREADABLE
    part: T = build(found.values)
    return reading.placed(part, at)
