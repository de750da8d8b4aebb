"""Conditions in few words, for diagrams, comparisons and explanations."""

from typing import Final, assert_never

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
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import dump_json

_SIGNS: Final = {
    Comparator.EQ: "=",
    Comparator.NEQ: "≠",
    Comparator.GT: ">",
    Comparator.GTE: "≥",
    Comparator.LT: "<",
    Comparator.LTE: "≤",
}
_BEGINNINGS: Final = {("request", "data"): ("data",), ("event", "data"): ("event",)}


def in_words(condition: Condition) -> str:
    """Write a condition as people write it: `buro.score > 60 and buro.score ≤ 70`."""
    match condition:
        case Comparison(operator=operator, left=left, right=right):
            return f"{operand_in_words(left)} {_SIGNS[operator]} {operand_in_words(right)}"
        case Membership(left=left, right=right):
            return f"{operand_in_words(left)} in {operand_in_words(right)}"
        case Existence(pointer=pointer):
            return f"{path_in_words(pointer)} exists"
        case Conjunction(operands=operands):
            return " and ".join(_within(operand, Disjunction) for operand in operands)
        case Disjunction(operands=operands):
            return " or ".join(_within(operand, Conjunction) for operand in operands)
        case Negation(operand=operand):
            return f"not ({in_words(operand)})"
        case _ as unreachable:
            assert_never(unreachable)


def operand_in_words(operand: Operand) -> str:
    return dump_json(operand.value) if isinstance(operand, LiteralOperand) else path_in_words(operand.pointer)


def path_in_words(pointer: Pointer) -> str:
    """Write a path of the evaluation context with points: `data.` for the request, then `event.`, `actor.`, results bare."""
    tokens = pointer.tokens
    if tokens[:1] == ("results",) and len(tokens) > 1:
        return ".".join(tokens[1:])
    beginning = _BEGINNINGS.get((tokens[0], tokens[1])) if len(tokens) > 1 else None
    return ".".join(tokens if beginning is None else (*beginning, *tokens[2:]))


def _within(operand: Condition, mixed: type[Conjunction | Disjunction]) -> str:
    return f"({in_words(operand)})" if isinstance(operand, mixed) else in_words(operand)
