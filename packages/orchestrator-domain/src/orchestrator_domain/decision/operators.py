"""The operator table on values that were read already (flow-language, conditions).

Kinds are judged before values, so that `true` never equals `1`. Null may be compared by EQ and NEQ with anything that
is present; below IN it is a fault.
"""

from typing import assert_never

from orchestrator_domain.decision.condition import (
    Comparator,
    Comparison,
    LiteralOperand,
    Membership,
    Operand,
    PathOperand,
)
from orchestrator_domain.decision.outcome import EvaluationFault, FaultKind
from orchestrator_domain.exact_json.value import JsonValue, Kind, kind_of

SCALAR_KINDS = frozenset({Kind.BOOLEAN, Kind.NUMBER, Kind.STRING})


class ConditionFault(Exception):
    """A condition can't be answered. Never leaves the decision floor: its callers turn it into a value."""

    def __init__(self, fault: EvaluationFault) -> None:
        super().__init__(fault)
        self.fault = fault


def compare(comparison: Comparison, left: JsonValue, right: JsonValue) -> bool:
    """Answer `left operator right`; raise ConditionFault if the kinds don't fit."""
    match comparison.operator:
        case Comparator.EQ:
            return _equal(comparison, left, right)
        case Comparator.NEQ:
            return not _equal(comparison, left, right)
        case Comparator.GT:
            return _order(comparison, left, right) > 0
        case Comparator.GTE:
            return _order(comparison, left, right) >= 0
        case Comparator.LT:
            return _order(comparison, left, right) < 0
        case Comparator.LTE:
            return _order(comparison, left, right) <= 0
        case _ as unreachable:
            assert_never(unreachable)


def contains(membership: Membership, left: JsonValue, right: JsonValue) -> bool:
    """Answer `left IN right`; raise ConditionFault unless `right` is a list of scalars of the kind of `left`."""
    kinds = (kind_of(left), kind_of(right))
    if kinds[0] in {Kind.ARRAY, Kind.OBJECT}:
        raise _fault(FaultKind.NOT_A_SCALAR, kinds, membership.left, membership.right)
    if not isinstance(right, list):
        raise _fault(FaultKind.NOT_A_LIST, kinds, membership.right, membership.left)
    elements = {kind_of(element) for element in right}
    if len(elements) > 1 or not elements <= SCALAR_KINDS:
        raise _fault(FaultKind.NOT_HOMOGENEOUS, kinds, membership.right, membership.left)
    if kinds[0] is Kind.NULL or (elements and kinds[0] not in elements):
        raise _fault(FaultKind.INCOMPATIBLE, kinds, membership.left, membership.right)
    return left in right


def absent(operand: PathOperand) -> ConditionFault:
    """Return the fault of a path that leads nowhere."""
    return ConditionFault(EvaluationFault(fault=FaultKind.ABSENT, pointer=str(operand.pointer)))


def _equal(comparison: Comparison, left: JsonValue, right: JsonValue) -> bool:
    kinds = (kind_of(left), kind_of(right))
    if Kind.NULL in kinds:
        return kinds[0] is kinds[1]
    if kinds[0] not in SCALAR_KINDS:
        raise _fault(FaultKind.NOT_A_SCALAR, kinds, comparison.left, comparison.right)
    if kinds[1] not in SCALAR_KINDS:
        raise _fault(FaultKind.NOT_A_SCALAR, kinds, comparison.right, comparison.left)
    if kinds[0] is not kinds[1]:
        raise _fault(FaultKind.INCOMPATIBLE, kinds, comparison.left, comparison.right)
    return left == right


def _order(comparison: Comparison, left: JsonValue, right: JsonValue) -> int:
    """Return how `left` stands to `right`: below, at or above zero."""
    kinds = (kind_of(left), kind_of(right))
    if kinds[0] is not Kind.NUMBER:
        raise _fault(FaultKind.NOT_A_NUMBER, kinds, comparison.left, comparison.right)
    if kinds[1] is not Kind.NUMBER:
        raise _fault(FaultKind.NOT_A_NUMBER, kinds, comparison.right, comparison.left)
    return (left > right) - (left < right)  # type: ignore[operator]  # both are numbers by now


def _fault(fault: FaultKind, kinds: tuple[Kind, Kind], culprit: Operand, other: Operand) -> ConditionFault:
    """Name the culprit's path, or the other one where the culprit is a literal."""
    paths = [str(operand.pointer) for operand in (culprit, other) if not isinstance(operand, LiteralOperand)]
    return ConditionFault(EvaluationFault(fault=fault, pointer=paths[0] if paths else None, kinds=kinds))
