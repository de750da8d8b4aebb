"""Conditions that can't be answered whatever they meet, and conditions that are too large."""

from collections.abc import Iterable, Iterator
from typing import Final

from orchestrator_domain.decision.condition import (
    Comparator,
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    LiteralOperand,
    Membership,
    Negation,
    Operand,
)
from orchestrator_domain.decision.operators import SCALAR_KINDS
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue, Kind, kind_of
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness.examined import Examined, error, warning

_EQUALITIES: Final = (Comparator.EQ, Comparator.NEQ)


def condition_findings(examined: Examined, limits: FlowLimits) -> Iterator[Finding]:
    """Yield literals of kinds that don't fit, and what goes beyond the limits."""
    for condition, place in examined.conditions():
        yield from _depth(condition, place, limits.condition_depth_max)
        for node, _ in nodes(condition):
            yield from _literals(examined, node)
    yield from _decision_sizes(examined, limits.decision_nodes_max)


def nodes(condition: Condition) -> Iterator[tuple[Condition, int]]:
    """Yield the condition and all conditions within it, each with its depth, the outermost at 1."""
    pending = [(condition, 1)]
    while pending:
        node, depth = pending.pop()
        yield node, depth
        pending += [(inner, depth + 1) for inner in reversed(_inner(node))]


def _inner(node: Condition) -> tuple[Condition, ...]:
    match node:
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            return operands
        case Negation(operand=operand):
            return (operand,)
        case _:
            return ()


def _depth(condition: Condition, place: Pointer, depth_max: int) -> Iterator[Finding]:
    depth = max(depth for _, depth in nodes(condition))
    if depth > depth_max:
        message = f"The condition is {depth} operators deep; {depth_max} are allowed here."
        yield error("CONDITION_TOO_DEEP", place, message)


def _decision_sizes(examined: Examined, nodes_max: int) -> Iterator[Finding]:
    for decision in examined.flow.decisions:
        size = sum(1 for rule in decision.rules for _ in nodes(rule.when))
        if size > nodes_max:
            message = f"The decision has {size} operators; {nodes_max} are allowed here."
            yield error("DECISION_TOO_LARGE", examined.place_of(decision), message)


def _literals(examined: Examined, node: Condition) -> Iterator[Finding]:
    match node:
        case Comparison(operator=operator) if operator in _EQUALITIES:
            yield from _compared_for_equality(examined, node)
        case Comparison(operator=operator):
            for operand in (node.left, node.right):
                message = f"{operator} compares numbers only; this literal is none."
                yield from _of_kinds(examined, operand, {Kind.NUMBER}, message)
        case Membership():
            yield from _members(examined, node)
        case _:
            pass


def _compared_for_equality(examined: Examined, node: Comparison) -> Iterator[Finding]:
    allowed = {*SCALAR_KINDS, Kind.NULL}
    message = f"{node.operator} compares scalars and null only; this literal is neither."
    yield from _of_kinds(examined, node.left, allowed, message)
    yield from _of_kinds(examined, node.right, allowed, message)
    kinds = {_literal_kind(node.left), _literal_kind(node.right)} - {None, Kind.NULL}
    if len(kinds) > 1 and kinds <= SCALAR_KINDS:
        message = f"{node.operator} compares literals of two kinds, which can't be answered."
        yield error("LITERAL_KIND", examined.place_of(node), message)


def _members(examined: Examined, node: Membership) -> Iterator[Finding]:
    message = "IN looks for a boolean, a number or a string; this literal is none of them."
    yield from _of_kinds(examined, node.left, SCALAR_KINDS, message)
    if not isinstance(node.right, LiteralOperand) or not isinstance(node.right.value, list):
        return
    place = examined.place_of(node.right).child("literal")
    kinds = {kind_of(element) for element in node.right.value}
    if not kinds:
        yield warning("ALWAYS_FALSE", place, "IN an empty list is always false.")
    elif len(kinds) > 1 or not kinds <= SCALAR_KINDS:
        yield error("LITERAL_KIND", place, "The list of IN holds scalars of one kind, and no null.")
    elif _literal_kind(node.left) in SCALAR_KINDS - kinds:
        yield error("LITERAL_KIND", place, "The list of IN holds scalars of another kind than its left side.")


def _of_kinds(
    examined: Examined, operand: Operand, allowed: Iterable[Kind], message: str
) -> Iterator[Finding]:
    kind = _literal_kind(operand)
    if kind is not None and kind not in allowed:
        yield error("LITERAL_KIND", examined.place_of(operand).child("literal"), message)


def _literal_kind(operand: Operand) -> Kind | None:
    if not isinstance(operand, LiteralOperand):
        return None
    value: JsonValue = operand.value
    return kind_of(value)
