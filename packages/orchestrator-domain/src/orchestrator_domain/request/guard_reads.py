"""What a condition reads: of the request, of the event, of the actor."""

from collections.abc import Iterator

from orchestrator_domain.decision.condition import (
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Existence,
    Membership,
    Negation,
    Operand,
    PathOperand,
)
from orchestrator_domain.exact_json.pointer import Pointer


def sources_read(condition: Condition) -> frozenset[str]:
    """Return the first member of each path: `request`, `event`, `results`, `actor`."""
    return frozenset(pointer.tokens[0] for pointer in _pointers(condition) if pointer.tokens)


def _pointers(condition: Condition) -> Iterator[Pointer]:
    match condition:
        case Comparison(left=left, right=right) | Membership(left=left, right=right):
            yield from _read_by(left)
            yield from _read_by(right)
        case Existence(pointer=pointer):
            yield pointer
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            for operand in operands:
                yield from _pointers(operand)
        case Negation(operand=operand):
            yield from _pointers(operand)


def _read_by(operand: Operand) -> Iterator[Pointer]:
    if isinstance(operand, PathOperand):
        yield operand.pointer
