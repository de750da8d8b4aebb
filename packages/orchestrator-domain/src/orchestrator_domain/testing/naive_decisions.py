"""Decisions by a plain walk over the syntax tree: slow, obvious, and the oracle of every faster implementation.

It shares no code with them beyond the types that it reads and answers.
"""

from decimal import Decimal
from typing import Any

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
)
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
    EvaluationFault,
    FaultKind,
)
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import Kind

_NOTHING = object()


class Unanswerable(Exception):
    """A condition met what it can't judge."""

    def __init__(self, fault: FaultKind, pointer: Pointer | None, *kinds: Kind) -> None:
        super().__init__(fault)
        self.fault = EvaluationFault(
            fault=fault, pointer=None if pointer is None else str(pointer), kinds=tuple(kinds)
        )


def decide(definition: DecisionDefinition, context: EvaluationContext) -> DecisionResult:
    """Decide as the specification's section 6 says, rule by rule."""
    matched = []
    for rule in definition.rules:
        try:
            answer = holds(rule.when, context)
        except Unanswerable as unanswerable:
            return DecisionFailed(decision=definition.id, rule=rule.id, fault=unanswerable.fault)
        if answer:
            matched.append(rule)
        if answer and definition.hit_policy is HitPolicy.FIRST:
            break
    if len(matched) > 1:
        return DecisionAmbiguous(decision=definition.id, matched_rules=tuple(rule.id for rule in matched))
    return DecisionMade(
        decision=definition.id,
        hit_policy=definition.hit_policy,
        output=matched[0].output if matched else definition.default_output,
        matched_rules=tuple(rule.id for rule in matched),
        by_default=not matched,
    )


def holds(condition: Condition, context: EvaluationContext) -> bool:
    """Answer a condition; raise Unanswerable where it can't be."""
    if isinstance(condition, Existence):
        return _found(condition.pointer, context) is not _NOTHING
    if isinstance(condition, Negation):
        return not holds(condition.operand, context)
    if isinstance(condition, Conjunction):
        return all(holds(operand, context) for operand in condition.operands)
    if isinstance(condition, Disjunction):
        return any(holds(operand, context) for operand in condition.operands)
    left, right = _value(condition.left, context), _value(condition.right, context)
    if isinstance(condition, Membership):
        return _is_member(condition, left, right)
    return _compares(condition, left, right)


def _compares(condition: Comparison, left: Any, right: Any) -> bool:
    kinds = _kind(left), _kind(right)
    if condition.operator in {Comparator.EQ, Comparator.NEQ}:
        return _equal(condition, left, right) is (condition.operator is Comparator.EQ)
    for kind, sides in (
        (kinds[0], (condition.left, condition.right)),
        (kinds[1], (condition.right, condition.left)),
    ):
        if kind is not Kind.NUMBER:
            raise Unanswerable(FaultKind.NOT_A_NUMBER, _place(*sides), *kinds)
    answers: dict[Comparator, bool] = {
        Comparator.GT: left > right,
        Comparator.GTE: left >= right,
        Comparator.LT: left < right,
        Comparator.LTE: left <= right,
    }
    return answers[condition.operator]


def _equal(condition: Comparison, left: Any, right: Any) -> bool:
    kinds = _kind(left), _kind(right)
    if left is None or right is None:
        return left is right
    if kinds[0] in {Kind.ARRAY, Kind.OBJECT}:
        raise Unanswerable(FaultKind.NOT_A_SCALAR, _place(condition.left, condition.right), *kinds)
    if kinds[1] in {Kind.ARRAY, Kind.OBJECT}:
        raise Unanswerable(FaultKind.NOT_A_SCALAR, _place(condition.right, condition.left), *kinds)
    if kinds[0] is not kinds[1]:
        raise Unanswerable(FaultKind.INCOMPATIBLE, _place(condition.left, condition.right), *kinds)
    return bool(left == right)


def _is_member(condition: Membership, left: Any, right: Any) -> bool:
    kinds = _kind(left), _kind(right)
    if kinds[0] in {Kind.ARRAY, Kind.OBJECT}:
        raise Unanswerable(FaultKind.NOT_A_SCALAR, _place(condition.left, condition.right), *kinds)
    if kinds[1] is not Kind.ARRAY:
        raise Unanswerable(FaultKind.NOT_A_LIST, _place(condition.right, condition.left), *kinds)
    kinds_within = [_kind(element) for element in right]
    odd = {Kind.NULL, Kind.ARRAY, Kind.OBJECT}.intersection(kinds_within)
    if odd or len(set(kinds_within)) > 1:
        raise Unanswerable(FaultKind.NOT_HOMOGENEOUS, _place(condition.right, condition.left), *kinds)
    if left is None or (kinds_within and kinds_within[0] is not kinds[0]):
        raise Unanswerable(FaultKind.INCOMPATIBLE, _place(condition.left, condition.right), *kinds)
    return any(left == element for element in right)


def _value(operand: Operand, context: EvaluationContext) -> Any:
    if isinstance(operand, LiteralOperand):
        return operand.value
    found = _found(operand.pointer, context)
    if found is _NOTHING:
        raise Unanswerable(FaultKind.ABSENT, operand.pointer)
    return found


def _found(pointer: Pointer, context: Any) -> Any:
    for token in pointer.tokens:
        is_index = token.isascii() and token.isdigit() and str(int(token)) == token
        if isinstance(context, dict) and token in context:
            context = context[token]
        elif isinstance(context, list) and is_index and int(token) < len(context):
            context = context[int(token)]
        else:
            return _NOTHING
    return context


def _kind(value: Any) -> Kind:
    if value is None:
        return Kind.NULL
    if value is True or value is False:
        return Kind.BOOLEAN
    for types, kind in (((int, Decimal), Kind.NUMBER), (str, Kind.STRING), (list, Kind.ARRAY)):
        if isinstance(value, types):
            return kind
    return Kind.OBJECT


def _place(culprit: Operand, other: Operand) -> Pointer | None:
    for operand in (culprit, other):
        if not isinstance(operand, LiteralOperand):
            return operand.pointer
    return None
