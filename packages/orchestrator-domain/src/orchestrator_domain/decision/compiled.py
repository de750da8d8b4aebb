"""Conditions and decisions compiled to closures: syntax trees are walked once, contexts are only read.

A closure's fast path takes the ordinary case (a value of the literal's kind at the end of plain objects); everything
else goes through `operators`, so that there is one place that says what an operator means.
"""

import operator
from collections.abc import Callable
from typing import Any, assert_never

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
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.decision.operators import ConditionFault, absent, compare, contains
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
    EvaluationFault,
)
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue
from orchestrator_domain.identifiers import RuleKey

type CompiledCondition = Callable[[EvaluationContext], bool]
"""Answers a condition, or raises ConditionFault; call it through `evaluate_condition`."""

type CompiledDecision = Callable[[EvaluationContext], DecisionResult]

type Read = Callable[[EvaluationContext], Any]


def evaluate_condition(compiled: CompiledCondition, context: EvaluationContext) -> bool | EvaluationFault:
    """Answer the condition in this context, or say why it can't be answered."""
    try:
        return compiled(context)
    except ConditionFault as condition_fault:
        return condition_fault.fault


def resolve_operand(operand: Operand, context: EvaluationContext) -> JsonValue | Absent:
    """Return the literal, or what is at the path."""
    match operand:
        case LiteralOperand(value=value):
            return value
        case PathOperand(pointer=pointer):
            return pointer.resolve(context)
        case _ as unreachable:
            assert_never(unreachable)


def compile_decision(definition: DecisionDefinition) -> CompiledDecision:
    """Return a function that decides as the hit policy says; faults of the rules are results, never exceptions."""
    rules = [(compile_condition(rule.when), made(definition, rule)) for rule in definition.rules]
    match definition.hit_policy:
        case HitPolicy.UNIQUE:
            return _unique(definition, rules)
        case HitPolicy.FIRST:
            return _first(definition, rules)
        case _ as unreachable:
            assert_never(unreachable)


def compile_condition(condition: Condition) -> CompiledCondition:
    """Return the condition as a function of the context."""
    match condition:
        case Comparison():
            return _comparison(condition)
        case Membership():
            return _membership(condition)
        case Existence(pointer=pointer):
            resolve = pointer.resolve
            return lambda context: resolve(context) is not ABSENT
        case Conjunction(operands=operands):
            return _conjunction([compile_condition(operand) for operand in operands])
        case Disjunction(operands=operands):
            return _disjunction([compile_condition(operand) for operand in operands])
        case Negation(operand=operand):
            inner = compile_condition(operand)
            return lambda context: not inner(context)
        case _ as unreachable:
            assert_never(unreachable)


# Decisions. The results of one match and of no match are made once: they are all that ordinary rows need.


type _CompiledRules = list[tuple[CompiledCondition, DecisionMade]]


def made(definition: DecisionDefinition, rule: Rule | None) -> DecisionMade:
    """Return the result of a match of this rule alone, or of no match."""
    return DecisionMade(
        decision=definition.id,
        hit_policy=definition.hit_policy,
        output=definition.default_output if rule is None else rule.output,
        matched_rules=() if rule is None else (rule.id,),
        by_default=rule is None,
    )


def _unique(definition: DecisionDefinition, rules: _CompiledRules) -> CompiledDecision:
    by_default = made(definition, None)

    def decide(context: EvaluationContext) -> DecisionResult:
        chosen = None
        try:
            for matches, made in rules:
                if matches(context):
                    if chosen is not None:
                        return _contested(definition, rules, context)
                    chosen = made
        except ConditionFault:
            return _contested(definition, rules, context)
        return by_default if chosen is None else chosen

    return decide


def _contested(
    definition: DecisionDefinition, rules: _CompiledRules, context: EvaluationContext
) -> DecisionResult:
    """Decide where a rule failed or two matched: the first fault of all rules counts before ambiguity."""
    matched: list[RuleKey] = []
    for matches, made in rules:
        answer = evaluate_condition(matches, context)
        if isinstance(answer, EvaluationFault):
            return _failed(definition, made, answer)
        if answer:
            matched += made.matched_rules
    return DecisionAmbiguous(decision=definition.id, matched_rules=tuple(matched))


def _first(definition: DecisionDefinition, rules: _CompiledRules) -> CompiledDecision:
    by_default = made(definition, None)

    def decide(context: EvaluationContext) -> DecisionResult:
        made = by_default
        try:
            for matches, made in rules:  # the rule under way is the one that fails or matches
                if matches(context):
                    return made
        except ConditionFault as condition_fault:
            return _failed(definition, made, condition_fault.fault)
        return by_default

    return decide


def _failed(definition: DecisionDefinition, made: DecisionMade, fault: EvaluationFault) -> DecisionFailed:
    return DecisionFailed(decision=definition.id, rule=made.matched_rules[0], fault=fault)


# Connectives.


def _conjunction(operands: list[CompiledCondition]) -> CompiledCondition:
    if len(operands) == 2:
        first, second = operands
        return lambda context: first(context) and second(context)

    def conjunction(context: EvaluationContext) -> bool:
        for operand in operands:  # noqa: SIM110  # a generator in all() costs as much again
            if not operand(context):
                return False
        return True

    return conjunction


def _disjunction(operands: list[CompiledCondition]) -> CompiledCondition:
    if len(operands) == 2:
        first, second = operands
        return lambda context: first(context) or second(context)

    def disjunction(context: EvaluationContext) -> bool:
        for operand in operands:  # noqa: SIM110  # as above, with any()
            if operand(context):
                return True
        return False

    return disjunction


# Leaves.

_TESTS: dict[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQ: operator.eq,
    Comparator.NEQ: operator.ne,
    Comparator.GT: operator.gt,
    Comparator.GTE: operator.ge,
    Comparator.LT: operator.lt,
    Comparator.LTE: operator.le,
}


def _comparison(comparison: Comparison) -> CompiledCondition:
    match comparison.left, comparison.right:
        case PathOperand() as path, LiteralOperand(value=literal):
            bounds, test = bounds_of(comparison.operator, literal), _TESTS[comparison.operator]
            return _against_literal(path, bounds, test, lambda value: compare(comparison, value, literal))
        case LiteralOperand(value=literal), PathOperand() as path:
            mirrored = MIRRORED[comparison.operator]
            bounds, test = bounds_of(mirrored, literal), _TESTS[mirrored]
            return _against_literal(path, bounds, test, lambda value: compare(comparison, literal, value))
        case left, right:
            read_left, read_right = _reader(left), _reader(right)
            return lambda context: compare(comparison, read_left(context), read_right(context))


def _against_literal(
    path: PathOperand,
    bounds: dict[type, Any],
    test: Callable[[Any, Any], bool],
    judge: Callable[[Any], bool],
) -> CompiledCondition:
    """Test the value at the path against the bound of its exact type; a type without a bound is left to `judge`."""
    bound_for = bounds.get
    read = _reader(path)
    if len(path.pointer.tokens) != 3:

        def holds(context: Any) -> bool:
            value = read(context)
            bound = bound_for(type(value))
            return judge(value) if bound is None else test(value, bound)

        return holds

    first, second, third = path.pointer.tokens

    def holds_three_deep(context: Any) -> bool:
        try:
            value = context[first][second][third]
        except _NO_PLAIN_OBJECT:
            value = read(context)
        bound = bound_for(type(value))
        return judge(value) if bound is None else test(value, bound)

    return holds_three_deep


def _membership(membership: Membership) -> CompiledCondition:
    read_left, read_right = _reader(membership.left), _reader(membership.right)

    def judged(context: EvaluationContext) -> bool:
        return contains(membership, read_left(context), read_right(context))

    members = members_of(membership.right)
    if members is None:
        return judged
    members_for = members.get

    def is_member(context: EvaluationContext) -> bool:
        value = read_left(context)
        known = members_for(type(value))
        return judged(context) if known is None else value in known

    return is_member


# Reading. Objects are tried first by plain look-up; arrays, absence and scalars on the way are the pointer's work.

_NO_PLAIN_OBJECT = (KeyError, TypeError, IndexError)


def _reader(operand: Operand) -> Read:
    """Return a function that reads the operand; it raises ConditionFault where nothing is."""
    match operand:
        case LiteralOperand(value=literal):
            return lambda _context: literal
        case PathOperand(pointer=pointer):
            return _path_reader(operand, pointer.tokens)
        case _ as unreachable:
            assert_never(unreachable)


def _path_reader(operand: PathOperand, tokens: tuple[str, ...]) -> Read:
    def read(context: Any) -> Any:
        value = context
        try:
            for token in tokens:
                value = value[token]
        except _NO_PLAIN_OBJECT:
            value = operand.pointer.resolve(context)
            if value is ABSENT:
                raise absent(operand) from None
        return value

    return read
