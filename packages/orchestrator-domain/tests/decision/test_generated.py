"""The generated functions answer as the closures and as the naive walk do, faults included."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator_domain.decision.compiled import compile_decision
from orchestrator_domain.decision.condition import (
    Comparator,
    Comparison,
    Condition,
    Conjunction,
    Existence,
    LiteralOperand,
    Membership,
    Negation,
    Operand,
    PathOperand,
)
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.decision.generated import Values, generate_decision, paths_read
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, JsonValue
from orchestrator_domain.identifiers import DecisionKey, RuleKey
from orchestrator_domain.testing.decision_strategies import VALUES, decision_contexts, decisions
from orchestrator_domain.testing.naive_decisions import decide

A, B = PathOperand(pointer=Pointer.parse("/a/x")), PathOperand(pointer=Pointer.parse("/b/x"))


def with_rules(*conditions: Condition, policy: HitPolicy = HitPolicy.UNIQUE) -> DecisionDefinition:
    rules = tuple(
        Rule(id=RuleKey(f"r{number}"), when=condition, output="O")
        for number, condition in enumerate(conditions)
    )
    return DecisionDefinition(id=DecisionKey("D"), hit_policy=policy, rules=rules, default_output="DEFAULT")


def above(bound: JsonValue) -> Comparison:
    return Comparison(operator=Comparator.GT, left=A, right=LiteralOperand(value=bound))


def values_of(definition: DecisionDefinition, context: EvaluationContext) -> Values:
    return tuple(path.resolve(context) for path in paths_read(definition))


@settings(max_examples=200)
@given(decisions(), st.lists(decision_contexts(), max_size=4))
def test_naive_walk_closures_and_generated_functions_agree(
    definition: DecisionDefinition, contexts: list[EvaluationContext]
) -> None:
    expected = [decide(definition, context) for context in contexts]
    generated = generate_decision(definition)

    assert [compile_decision(definition)(context) for context in contexts] == expected
    assert [generated.over_context(context) for context in contexts] == expected
    assert list(generated.over_contexts(contexts)) == expected
    assert list(generated.over_values(values_of(definition, context) for context in contexts)) == expected


@pytest.mark.parametrize("operator", [*Comparator, "IN"])
def test_every_pair_of_kinds_is_answered_as_the_naive_walk_does(operator: str) -> None:
    contexts = list(pairs_of_values())
    for literal in (*VALUES, ABSENT):
        sides: list[Operand] = [A, B] if literal is ABSENT else [A, LiteralOperand(value=literal)]
        for left, right in (sides, reversed(sides)):
            definition = with_rules(leaf(operator, left, right))
            expected = [decide(definition, context) for context in contexts]

            assert list(generate_decision(definition).over_contexts(contexts)) == expected, literal


def pairs_of_values() -> Iterator[EvaluationContext]:
    for left, right in product([*VALUES, ABSENT], repeat=2):
        sides = (("a", left), ("b", right))
        yield {name: {"x": value} for name, value in sides if value is not ABSENT}


def leaf(operator: str, left: Operand, right: Operand) -> Condition:
    if operator == "IN":
        return Membership(left=left, right=right)
    return Comparison(operator=Comparator(operator), left=left, right=right)


def test_two_matches_and_faults_come_out_as_row_by_row() -> None:
    definition = with_rules(above(1), above(2), Negation(operand=Existence(pointer=B.pointer)))
    contexts: list[EvaluationContext] = [
        {"a": {"x": 3}, "b": {"x": 1}},
        {"a": {"x": 3}},
        {"a": {"x": "3"}},
        {"b": {"x": None}},
        {"a": {"x": Decimal("1.5")}, "b": {"x": 1}},
    ]

    results = list(generate_decision(definition).over_contexts(contexts))

    assert results == [decide(definition, context) for context in contexts]
    assert [type(result).__name__ for result in results] == [
        "DecisionAmbiguous",
        "DecisionAmbiguous",
        "DecisionFailed",
        "DecisionFailed",
        "DecisionMade",
    ]


def test_what_a_definition_says_is_never_read_as_code() -> None:
    hostile = '"]; raise SystemExit #'
    path = PathOperand(pointer=Pointer(tokens=(hostile, "__class__")))
    definition = with_rules(
        Comparison(operator=Comparator.EQ, left=path, right=LiteralOperand(value=hostile))
    )
    contexts: list[EvaluationContext] = [{hostile: {"__class__": hostile}}, {hostile: {}}, {}]

    assert list(generate_decision(definition).over_contexts(contexts)) == [
        decide(definition, context) for context in contexts
    ]


def test_rows_are_taken_one_by_one() -> None:
    taken = []

    def rows() -> Iterator[EvaluationContext]:
        for score in range(3):
            taken.append(score)
            yield {"a": {"x": score}}

    results = generate_decision(with_rules(above(1))).over_contexts(rows())

    assert taken == []
    next(results)
    assert taken == [0]


@pytest.mark.no_cover  # ten thousand rules of one form run through the same lines
def test_a_decision_as_large_and_as_deep_as_any_may_be_is_generated() -> None:
    deep: Condition = above(9_999)
    for _ in range(24):
        deep = Conjunction(operands=(Negation(operand=Negation(operand=deep)), above(0)))
    definition = with_rules(*(above(bound) for bound in range(9_900, 0, -1)), deep)

    (result,) = generate_decision(definition).over_contexts([{"a": {"x": 2}}])

    assert result == decide(definition, {"a": {"x": 2}})


def test_a_decision_that_reads_no_path_decides_every_row_alike() -> None:
    always = Comparison(operator=Comparator.LT, left=LiteralOperand(value=1), right=LiteralOperand(value=2))
    generated = generate_decision(with_rules(always))

    assert generated.paths == ()
    assert list(generated.over_values([(), ()])) == list(generated.over_contexts([{}, {"a": 1}]))
