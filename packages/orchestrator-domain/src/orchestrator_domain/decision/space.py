"""The paths that decisions read, each cut into cells, and where their conditions are true, false and an error."""

from collections.abc import Iterable, Iterator, Mapping
from typing import assert_never

from attrs import field, frozen

from orchestrator_domain.decision.boxes import (
    EVERYTHING,
    NOTHING,
    Answers,
    Box,
    Budget,
    Region,
    conjunction,
    disjunction,
)
from orchestrator_domain.decision.cells import Cells, cells_between
from orchestrator_domain.decision.compiled import compile_condition, evaluate_condition
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
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import EvaluationFault
from orchestrator_domain.decision.witness import context_in
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue, Kind, kind_of

type Leaf = Comparison | Membership | Existence
type _Kinds = tuple[Comparator, Kind, Kind, bool]


@frozen(kw_only=True)
class Space:
    """The paths that decisions read, each cut at every literal that any of their conditions compares it with."""

    pointers: tuple[Pointer, ...]
    cells: tuple[Cells, ...]
    numbers: Mapping[Pointer, int] = field(init=False)
    _known: dict[tuple[object, ...], Answers] = field(factory=dict, init=False)
    _by_kinds: dict[_Kinds, bool | EvaluationFault] = field(factory=dict, init=False)

    @numbers.default
    def _numbered(self) -> Mapping[Pointer, int]:
        return {pointer: number for number, pointer in enumerate(self.pointers)}

    @classmethod
    def of(cls, *definitions: DecisionDefinition) -> "Space":
        literals: dict[Pointer, list[JsonValue]] = {}
        for definition in definitions:
            for rule in definition.rules:
                for leaf in leaves(rule.when):
                    for pointer, values in compared(leaf):
                        literals.setdefault(pointer, []).extend(values)
        return cls(
            pointers=tuple(literals), cells=tuple(cells_between(values) for values in literals.values())
        )

    def answers(self, condition: Condition, budget: Budget) -> Answers:
        """Return where a decidable condition is true, where it is false and where it is an error."""
        match condition:
            case Conjunction(operands=operands):
                return conjunction((self.answers(operand, budget) for operand in operands), budget)
            case Disjunction(operands=operands):
                return disjunction((self.answers(operand, budget) for operand in operands), budget)
            case Negation(operand=operand):
                return self.answers(operand, budget).negated()
            case Comparison() | Membership() | Existence():
                return self._leaf(condition, budget)
            case _ as unreachable:
                assert_never(unreachable)

    def context_in(self, box: Box) -> JsonObject | None:
        """Return a context that lies in the box, or None if there is none."""
        return context_in(box, self.pointers, self.cells)

    def any_context(self, region: Iterable[Box]) -> JsonObject | None:
        contexts = map(self.context_in, region)
        return next((context for context in contexts if context is not None), None)

    def _leaf(self, leaf: Leaf, budget: Budget) -> Answers:
        paths = compared(leaf)
        if not paths:
            return _everywhere(evaluate_condition(compile_condition(leaf), {}))
        key = _question(leaf)
        if key not in self._known:
            budget.spend(len(paths[0][1]) + 1)
            self._known[key] = self._asked(leaf, *paths[0])
        return self._known[key]

    def _asked(self, leaf: Leaf, pointer: Pointer, literals: list[JsonValue]) -> Answers:
        number = self.numbers[pointer]
        cells, own = self.cells[number], cells_between(literals)
        true = false = 0
        for value, covered in zip(own.representatives, cells.within(own), strict=True):
            answer = self._answer(leaf, pointer, value)
            true |= covered if answer is True else 0
            false |= covered if answer is False else 0
        return Answers(
            true=_one_path(number, true),
            false=_one_path(number, false),
            error=_one_path(number, cells.every & ~true & ~false),
        )

    def _answer(self, leaf: Leaf, pointer: Pointer, value: JsonValue | Absent) -> bool | EvaluationFault:
        """Ask the evaluator, but only once where nothing counts but the kinds of the value and of the literal."""
        kinds = _kinds(leaf, value)
        if kinds is None:
            return evaluate_condition(compile_condition(leaf), _holding(pointer, value))
        if kinds not in self._by_kinds:
            self._by_kinds[kinds] = evaluate_condition(compile_condition(leaf), _holding(pointer, value))
        return self._by_kinds[kinds]


def _kinds(leaf: Leaf, value: JsonValue | Absent) -> _Kinds | None:
    if not isinstance(leaf, Comparison):
        return None
    is_mirrored = isinstance(leaf.left, LiteralOperand)
    literal = leaf.left if is_mirrored else leaf.right
    assert isinstance(literal, LiteralOperand), "a leaf is compared with literals here"
    kinds = kind_of(literal.value), kind_of(value)
    return None if kinds[0] is kinds[1] else (leaf.operator, *kinds, is_mirrored)


def _question(leaf: Leaf) -> tuple[object, ...]:
    """Return a key that leaves share only if they ask the same."""
    match leaf:
        case Existence(pointer=pointer):
            return (pointer.tokens,)
        case Membership(left=left, right=right):
            return ("IN", _asked_of(left), _asked_of(right))
        case Comparison(operator=operator, left=left, right=right):
            return (operator, _asked_of(left), _asked_of(right))


def _asked_of(operand: Operand) -> object:
    if isinstance(operand, PathOperand):
        return operand.pointer.tokens
    # `1` and `true` are equal in Python; lists have no hash.
    value = operand.value
    return type(value), repr(value) if isinstance(value, list | dict) else value


def _everywhere(answer: object) -> Answers:
    return Answers(
        true=EVERYTHING if answer is True else NOTHING,
        false=EVERYTHING if answer is False else NOTHING,
        error=NOTHING if isinstance(answer, bool) else EVERYTHING,
    )


def _one_path(number: int, cells: int) -> Region:
    return ({number: cells},) if cells else NOTHING


def _holding(pointer: Pointer, value: object) -> JsonObject:
    if value is ABSENT:
        return {}
    for token in reversed(pointer.tokens):
        value = {token: value}
    return value  # type: ignore[return-value]  # a path of conditions has tokens, so this is an object


def leaves(condition: Condition) -> Iterator[Leaf]:
    """Yield the conditions that connectives join, in their order."""
    match condition:
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            for operand in operands:
                yield from leaves(operand)
        case Negation(operand=operand):
            yield from leaves(operand)
        case Comparison() | Membership() | Existence():
            yield condition
        case _ as unreachable:
            assert_never(unreachable)


def compared(leaf: Leaf) -> list[tuple[Pointer, list[JsonValue]]]:
    """Return each path of the leaf with the literals that it is compared with."""
    if isinstance(leaf, Existence):
        return [(leaf.pointer, [])]
    operands = (leaf.left, leaf.right)
    literals = [operand.value for operand in operands if isinstance(operand, LiteralOperand)]
    members = [each for value in literals for each in (value if isinstance(value, list) else [value])]
    return [(operand.pointer, members) for operand in operands if isinstance(operand, PathOperand)]


def is_decidable(condition: Condition) -> bool:
    """Say whether every leaf compares one path with literals, so that cells answer for all values."""
    return all(_is_decidable_leaf(leaf) for leaf in leaves(condition))


def _is_decidable_leaf(leaf: Leaf) -> bool:
    if isinstance(leaf, Membership) and isinstance(leaf.right, PathOperand):
        return False
    return len(compared(leaf)) < 2
