"""Literals made ready to be tested with directly, by the exact type of the value that meets them."""

from decimal import Decimal
from typing import Any, Final

from orchestrator_domain.decision.condition import Comparator, LiteralOperand, Operand
from orchestrator_domain.decision.operators import SCALAR_KINDS
from orchestrator_domain.exact_json.value import JsonValue, kind_of

MIRRORED: Final = {
    Comparator.EQ: Comparator.EQ,
    Comparator.NEQ: Comparator.NEQ,
    Comparator.GT: Comparator.LT,
    Comparator.GTE: Comparator.LTE,
    Comparator.LT: Comparator.GT,
    Comparator.LTE: Comparator.GTE,
}
"""The operator that answers alike when its sides are exchanged."""


def bounds_of(comparator: Comparator, literal: JsonValue) -> dict[type, Any]:
    """Return the literal for each type that this operator may compare with it, numbers in that type where they can."""
    bounds = _bounds(literal)
    # Python would order strings and booleans too.
    ordering = comparator not in {Comparator.EQ, Comparator.NEQ}
    return {} if ordering and int not in bounds else bounds


def members_of(operand: Operand) -> dict[type, frozenset[Any]] | None:
    """Return the members of a homogeneous literal list for each type they may be compared with."""
    if not isinstance(operand, LiteralOperand) or not isinstance(operand.value, list):
        return None
    kinds = {kind_of(element) for element in operand.value}
    if len(kinds) != 1 or not kinds <= SCALAR_KINDS:
        return None
    members: frozenset[Any] = frozenset(operand.value)
    return dict.fromkeys(_bounds(operand.value[0]), members)


def _bounds(literal: JsonValue) -> dict[type, Any]:
    if isinstance(literal, bool | str):
        return {type(literal): literal}
    if isinstance(literal, int):
        return {int: literal, Decimal: Decimal(literal)}
    if isinstance(literal, Decimal):
        return {int: literal, Decimal: literal}
    return {}
