"""Conditions as Python expressions over variables that hold what is at each path."""

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final, assert_never

from attrs import define, field

from orchestrator_domain.decision.bounds import MIRRORED, bounds_of, members_of
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
from orchestrator_domain.decision.operators import absent, compare, contains
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT

_TESTS: Final[dict[Comparator, type[ast.cmpop]]] = {
    Comparator.EQ: ast.Eq,
    Comparator.NEQ: ast.NotEq,
    Comparator.GT: ast.Gt,
    Comparator.GTE: ast.GtE,
    Comparator.LT: ast.Lt,
    Comparator.LTE: ast.LtE,
}


@define(kw_only=True)
class Given:
    """The values that generated code works with, each under a name made here."""

    _values: dict[int, Any] = field(factory=dict, init=False)

    def name(self, value: Any) -> ast.expr:
        self._values[id(value)] = value
        return ast.Name(id=_name(id(value)), ctx=ast.Load())

    def by_name(self) -> dict[str, Any]:
        return {_name(identity): value for identity, value in self._values.items()}


def _name(identity: int) -> str:
    return f"given{identity}"


@define(kw_only=True)
class Expressions:
    """Translate conditions.

    Variables are numbered as `pointers` are: `value3` holds what is at the fourth, `type3` the exact type of that.
    """

    pointers: Sequence[Pointer]
    given: Given
    absent: ast.expr = field(init=False)

    @absent.default
    def _absent(self) -> ast.expr:
        return self.given.name(ABSENT)

    def of(self, condition: Condition) -> ast.expr:
        """Return an expression that is a bool, or raises ConditionFault where the condition is an error."""
        match condition:
            case Comparison():
                return self._comparison(condition)
            case Membership():
                return self._membership(condition)
            case Existence(pointer=pointer):
                return _compared(self._value(pointer), ast.IsNot(), self.absent)
            case Conjunction(operands=operands):
                return _joined(ast.And(), [self.of(operand) for operand in operands])
            case Disjunction(operands=operands):
                return _joined(ast.Or(), [self.of(operand) for operand in operands])
            case Negation(operand=operand):
                return ast.UnaryOp(op=ast.Not(), operand=self.of(operand))
            case _ as unreachable:
                assert_never(unreachable)

    def _comparison(self, comparison: Comparison) -> ast.expr:
        judged = self._judged(compare, comparison)
        match comparison.left, comparison.right:
            case PathOperand(pointer=pointer), LiteralOperand(value=literal):
                comparator = comparison.operator
            case LiteralOperand(value=literal), PathOperand(pointer=pointer):
                comparator = MIRRORED[comparison.operator]
            case _:
                return judged
        return self._tested(pointer, _TESTS[comparator], bounds_of(comparator, literal), judged)

    def _membership(self, membership: Membership) -> ast.expr:
        judged = self._judged(contains, membership)
        members = members_of(membership.right)
        if members is None or not isinstance(membership.left, PathOperand):
            return judged
        return self._tested(membership.left.pointer, ast.In, members, judged)

    def _tested(
        self, pointer: Pointer, test: type[ast.cmpop], bounds: dict[type, Any], judged: ast.expr
    ) -> ast.expr:
        """Test the value against the bound of its exact type; a type without a bound is left to the operator table."""
        tested = judged
        for exact_type, bound in bounds.items():
            is_type = _compared(self._type(pointer), ast.Is(), self.given.name(exact_type))
            answer = _compared(self._value(pointer), test(), self.given.name(bound))
            tested = ast.IfExp(test=is_type, body=answer, orelse=tested)
        return tested

    def _judged[Leaf: (Comparison, Membership)](
        self, judge: Callable[[Leaf, Any, Any], bool], leaf: Leaf
    ) -> ast.expr:
        def judged(left: Any, right: Any) -> bool:
            for operand, value in ((leaf.left, left), (leaf.right, right)):
                if value is ABSENT and isinstance(operand, PathOperand):
                    raise absent(operand)
            return judge(leaf, left, right)

        operands = [self._operand(leaf.left), self._operand(leaf.right)]
        return ast.Call(func=self.given.name(judged), args=operands, keywords=[])

    def _operand(self, operand: Operand) -> ast.expr:
        match operand:
            case LiteralOperand(value=literal):
                return self.given.name(literal)
            case PathOperand(pointer=pointer):
                return self._value(pointer)
            case _ as unreachable:
                assert_never(unreachable)

    def _value(self, pointer: Pointer) -> ast.expr:
        return ast.Name(id=f"value{self.pointers.index(pointer)}", ctx=ast.Load())

    def _type(self, pointer: Pointer) -> ast.expr:
        return ast.Name(id=f"type{self.pointers.index(pointer)}", ctx=ast.Load())


def _joined(connective: ast.boolop, operands: list[ast.expr]) -> ast.expr:
    return operands[0] if len(operands) == 1 else ast.BoolOp(op=connective, values=operands)


def _compared(left: ast.expr, test: ast.cmpop, right: ast.expr) -> ast.expr:
    return ast.Compare(left=left, ops=[test], comparators=[right])
