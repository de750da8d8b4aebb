"""The exact analysis, held against a solver that knows nothing of cells and boxes."""

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from itertools import combinations
from random import Random
from typing import Any

import pytest
import z3  # type: ignore[import-untyped]  # it has no types

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
    PathOperand,
)
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.decision.regions import analyse
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.identifiers import DecisionKey, RuleKey

DECISIONS = 600

# What a decision is drawn from: a scalar path, one with something below it, and that.

PATHS = tuple(Pointer.parse(text) for text in ("/score", "/client", "/client/age"))
LITERALS: tuple[JsonValue, ...] = (0, 1, Decimal("1.5"), 2, 60, -7, "A", "B", True, False, None)


class Drawn:
    """Draw decisions from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def decision(self) -> DecisionDefinition:
        rules = [
            Rule(id=RuleKey(f"r{number}"), when=self._condition(3), output="O")
            for number in range(self.random.randint(2, 4))
        ]
        return DecisionDefinition(
            id=DecisionKey("D"), hit_policy=HitPolicy.UNIQUE, rules=tuple(rules), default_output="DEFAULT"
        )

    def _condition(self, depth: int) -> Condition:
        if depth == 0 or self.random.random() < 0.3:
            return self._leaf()
        operands = tuple(self._condition(depth - 1) for _ in range(self.random.randint(1, 3)))
        connectives = (
            Conjunction(operands=operands),
            Disjunction(operands=operands),
            Negation(operand=operands[0]),
        )
        return self.random.choice(connectives)

    def _leaf(self) -> Condition:
        path = PathOperand(pointer=self.random.choice(PATHS))
        kind = self.random.random()
        if kind < 0.2:
            return Existence(pointer=path.pointer)
        if kind < 0.35:
            members: list[JsonValue] = self.random.choice([[], [1, 2], ["A", "B"], [True], [1, "A"]])
            return Membership(left=path, right=LiteralOperand(value=members))
        literal = LiteralOperand(value=self.random.choice(LITERALS))
        sides = (path, literal) if self.random.random() < 0.7 else (literal, path)
        return Comparison(operator=self.random.choice(list(Comparator)), left=sides[0], right=sides[1])


# What the operator table says, as formulas over one value for each path.


@cache
def value_sort() -> Any:
    sort = z3.Datatype("Value")
    for name in ("absent", "null", "container"):
        sort.declare(name)
    sort.declare("boolean", ("truth", z3.BoolSort()))
    sort.declare("number", ("amount", z3.RealSort()))
    sort.declare("string", ("text", z3.StringSort()))
    return sort.create()


@cache
def value_at(pointer: Pointer) -> Any:
    return z3.Const(str(pointer), value_sort())


def possible_contexts() -> Iterator[Any]:
    sort = value_sort()
    for above in PATHS:
        for below in PATHS:
            if below != above and below.starts_with(above):
                yield z3.Or(value_at(above) == sort.container, value_at(below) == sort.absent)


def constant(literal: JsonValue) -> Any:
    sort = value_sort()
    if literal is None:
        return sort.null
    if isinstance(literal, bool):
        return sort.boolean(literal)
    if isinstance(literal, int | Decimal):
        return sort.number(z3.RealVal(str(literal)))
    return sort.string(z3.StringVal(str(literal)))


def true_and_error(condition: Condition) -> tuple[Any, Any]:
    """Return where the condition is true and where it is an error."""
    match condition:
        case Negation(operand=operand):
            true, error = true_and_error(operand)
            return z3.And(z3.Not(true), z3.Not(error)), error
        case Conjunction(operands=operands):
            return in_order(operands, goes_on=True)
        case Disjunction(operands=operands):
            return in_order(operands, goes_on=False)
        case Existence(pointer=pointer):
            return value_at(pointer) != value_sort().absent, z3.BoolVal(False)  # noqa: FBT003  # the solver's constant
        case Membership():
            return membership(condition)
        case Comparison():
            return comparison(condition)


def in_order(operands: tuple[Condition, ...], *, goes_on: bool) -> tuple[Any, Any]:
    """Join as AND (which goes on while true) or OR (while false) do: the first other answer, or error, stands."""
    true, error = true_and_error(operands[-1])
    for operand in reversed(operands[:-1]):
        is_true, is_error = true_and_error(operand)
        is_false = z3.And(z3.Not(is_true), z3.Not(is_error))
        onward = is_true if goes_on else is_false
        error = z3.Or(is_error, z3.And(onward, error))
        true = z3.And(onward, true) if goes_on else z3.Or(is_true, z3.And(onward, true))
    return true, error


def membership(condition: Membership) -> tuple[Any, Any]:
    assert isinstance(condition.left, PathOperand)
    assert isinstance(condition.right, LiteralOperand)
    members: Any = condition.right.value
    value, sort = value_at(condition.left.pointer), value_sort()
    scalars = {
        "boolean": sort.is_boolean(value),
        "number": sort.is_number(value),
        "string": sort.is_string(value),
    }
    kinds = {kind_name(member) for member in members}
    if len(kinds) > 1:
        return z3.BoolVal(False), z3.BoolVal(True)  # noqa: FBT003  # as above
    fits = z3.Or(*(scalars[kind] for kind in kinds or scalars))
    is_member = z3.Or(*(value == constant(member) for member in members))
    return z3.And(fits, is_member), z3.Not(fits)


def comparison(condition: Comparison) -> tuple[Any, Any]:
    sort = value_sort()
    left, right = operand(condition.left), operand(condition.right)
    if condition.operator in {Comparator.EQ, Comparator.NEQ}:
        present = z3.And(left != sort.absent, right != sort.absent)
        alike = z3.Or(
            left == sort.null,
            right == sort.null,
            z3.And(sort.is_boolean(left), sort.is_boolean(right)),
            z3.And(sort.is_number(left), sort.is_number(right)),
            z3.And(sort.is_string(left), sort.is_string(right)),
        )
        fits = z3.And(present, alike)
        equal = left == right if condition.operator is Comparator.EQ else left != right
        return z3.And(fits, equal), z3.Not(fits)
    fits = z3.And(sort.is_number(left), sort.is_number(right))
    one, other = sort.amount(left), sort.amount(right)
    ordered = {
        Comparator.GT: one > other,
        Comparator.GTE: one >= other,
        Comparator.LT: one < other,
        Comparator.LTE: one <= other,
    }
    return z3.And(fits, ordered[condition.operator]), z3.Not(fits)


def operand(written: PathOperand | LiteralOperand) -> Any:
    return value_at(written.pointer) if isinstance(written, PathOperand) else constant(written.value)


def kind_name(literal: JsonValue) -> str:
    if isinstance(literal, bool):
        return "boolean"
    return "string" if isinstance(literal, str) else "number"


# The law.


def solved(definition: DecisionDefinition) -> tuple[set[tuple[str, str]], bool, bool]:
    """Return the pairs that overlap, whether the default decides somewhere, and whether anything fails."""
    solver = z3.Solver()
    solver.add(*possible_contexts())
    answers = [true_and_error(rule.when) for rule in definition.rules]
    is_failing = z3.Or(*(error for _, error in answers))
    overlaps = {
        (definition.rules[first].id, definition.rules[second].id)
        for first, second in combinations(range(len(answers)), 2)
        if is_possible(solver, answers[first][0], answers[second][0], z3.Not(is_failing))
    }
    gap = is_possible(solver, z3.Not(is_failing), *(z3.Not(true) for true, _ in answers))
    return {(str(one), str(other)) for one, other in overlaps}, gap, is_possible(solver, is_failing)


def is_possible(solver: Any, *formulas: Any) -> bool:
    answer = solver.check(*formulas)
    assert answer != z3.unknown
    return bool(answer == z3.sat)


@pytest.mark.no_cover  # it draws its cases
def test_no_overlap_no_gap_and_no_failure_differs_from_what_a_solver_finds() -> None:
    drawn = Drawn(seed=20)
    found_somewhere = {"overlap": 0, "gap": 0, "failure": 0}

    for _ in range(DECISIONS):
        definition = drawn.decision()
        analysis = analyse(definition)
        pairs = {(str(each.first.id), str(each.second.id)) for each in analysis.overlaps}

        assert not analysis.incomplete
        assert (pairs, bool(analysis.left_to_default), bool(analysis.failing)) == solved(definition), (
            definition
        )
        found_somewhere["overlap"] += bool(pairs)
        found_somewhere["gap"] += bool(analysis.left_to_default)
        found_somewhere["failure"] += bool(analysis.failing)

    # Decisions that show nothing, or always the same, would prove nothing.
    assert all(DECISIONS // 20 < count < DECISIONS for count in found_somewhere.values()), found_somewhere
