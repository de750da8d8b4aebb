"""Compiled conditions and decisions, held against the naive walk over every kind."""

from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given

from orchestrator_domain.decision.compiled import (
    compile_condition,
    compile_decision,
    evaluate_condition,
    resolve_operand,
)
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
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    EvaluationFault,
    FaultKind,
)
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, JsonValue, Kind, kind_of
from orchestrator_domain.identifiers import DecisionKey, RuleKey
from orchestrator_domain.testing.decision_strategies import VALUES, decision_contexts, decisions
from orchestrator_domain.testing.naive_decisions import Unanswerable, decide, holds

SCORE = "/results/consulta/score"


def path(text: str) -> PathOperand:
    return PathOperand(pointer=Pointer.parse(text))


YES, NO = LiteralOperand(value=True), LiteralOperand(value=False)


def literal(value: JsonValue) -> LiteralOperand:
    return LiteralOperand(value=value)


def compare(operator: str, left: Operand, right: Operand) -> Comparison:
    return Comparison(operator=Comparator(operator), left=left, right=right)


def above(bound: JsonValue) -> Comparison:
    return compare("GT", path(SCORE), literal(bound))


def scored(value: JsonValue) -> EvaluationContext:
    return {"results": {"consulta": {"score": value}}}


def naive(condition: Condition, context: EvaluationContext) -> bool | EvaluationFault:
    try:
        return holds(condition, context)
    except Unanswerable as unanswerable:
        return unanswerable.fault


def compiled(condition: Condition, context: EvaluationContext) -> bool | EvaluationFault:
    return evaluate_condition(compile_condition(condition), context)


SCORING = DecisionDefinition(
    id=DecisionKey("RUTA"),
    rules=(
        Rule(id=RuleKey("alto"), when=above(70), output="N"),
        Rule(
            id=RuleKey("medio"),
            when=Conjunction(operands=(above(60), compare("LTE", path(SCORE), literal(70)))),
            output="M",
        ),
    ),
    default_output="MANUAL",
)


@pytest.mark.parametrize("operator", [*Comparator, "IN"])
def test_every_pair_of_kinds_is_answered_as_the_naive_walk_does(operator: str) -> None:
    for left, right in product([*VALUES, ABSENT], repeat=2):
        context: EvaluationContext = {"request": {"data": {}}}
        for name, value in (("a", left), ("b", right)):
            if value is not ABSENT:
                context[name] = {"x": {"y": value}}
        sides: list[list[Operand]] = [[path("/a/x/y")], [path("/b/x/y")]]
        for side, value in zip(sides, (left, right), strict=True):
            if value is not ABSENT:
                side.append(literal(value))
        for one, other in product(*sides):
            condition: Condition
            if operator == "IN":
                condition = Membership(left=one, right=other)
            else:
                condition = compare(operator, one, other)
            assert compiled(condition, context) == naive(condition, context), (left, right)


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        (compare("EQ", literal(1), literal(Decimal("1.0"))), True),
        (compare("EQ", literal(2**53), literal(2**53 + 1)), False),
        (compare("GT", literal(Decimal("1e-30")), literal(0)), True),
        (compare("EQ", literal("é"), literal("e\u0301")), False),
        (compare("EQ", literal(None), literal(None)), True),
        (compare("NEQ", literal(None), literal(0)), True),
        (compare("EQ", literal(None), literal([])), False),
        (Membership(left=literal(1), right=literal([2, Decimal("1.00")])), True),
        (Membership(left=literal("a"), right=literal([])), False),
        (Membership(left=NO, right=literal([True])), False),
        (compare("EQ", literal(Decimal("0.3")), literal(Decimal("0.30000000000000004"))), False),
        (compare("GT", literal(2**53 + 1), literal(2**53)), True),
        (Membership(left=literal(2**53 + 1), right=literal([2**53, Decimal("1e53")])), False),
        (Membership(left=literal("é"), right=literal(["e\u0301"])), False),
    ],
)
def test_operators_mean_what_the_table_says(condition: Condition, answer: bool) -> None:  # noqa: FBT001
    assert compiled(condition, {}) is answer


@pytest.mark.parametrize(
    ("condition", "fault"),
    [
        (compare("EQ", YES, literal(1)), FaultKind.INCOMPATIBLE),
        (compare("EQ", literal({}), literal({})), FaultKind.NOT_A_SCALAR),
        (compare("GT", literal("71"), literal(70)), FaultKind.NOT_A_NUMBER),
        (compare("LTE", YES, literal(1)), FaultKind.NOT_A_NUMBER),
        (Membership(left=YES, right=literal([1])), FaultKind.INCOMPATIBLE),
        (Membership(left=literal(None), right=literal([])), FaultKind.INCOMPATIBLE),
        (Membership(left=literal(1), right=literal([1, True])), FaultKind.NOT_HOMOGENEOUS),
        (Membership(left=literal(1), right=literal([1, None])), FaultKind.NOT_HOMOGENEOUS),
        (Membership(left=literal(1), right=literal("1")), FaultKind.NOT_A_LIST),
        (Membership(left=literal([]), right=literal([])), FaultKind.NOT_A_SCALAR),
    ],
)
def test_kinds_that_do_not_fit_are_faults(condition: Condition, fault: FaultKind) -> None:
    answer = compiled(condition, {})

    assert isinstance(answer, EvaluationFault)
    assert answer.fault is fault


def test_a_fault_names_the_path_at_fault_and_the_kinds_but_no_value() -> None:
    condition = compare("LT", literal(3), path("/event/data/0/monto"))

    answer = compiled(condition, {"event": {"data": [{"monto": "secreto"}]}})

    assert answer == EvaluationFault(
        fault=FaultKind.NOT_A_NUMBER, pointer="/event/data/0/monto", kinds=(Kind.NUMBER, Kind.STRING)
    )


@pytest.mark.parametrize(
    "context", [{}, {"results": None}, {"results": {"consulta": 3}}, scored({})["results"]]
)
def test_an_absent_path_is_a_fault_except_to_exists(context: EvaluationContext) -> None:
    assert compiled(above(1), context) == EvaluationFault(fault=FaultKind.ABSENT, pointer=SCORE)
    assert compiled(Existence(pointer=Pointer.parse(SCORE)), context) is False


def test_exists_finds_null_and_array_elements_but_nothing_below_a_scalar() -> None:
    context: EvaluationContext = {"a": None, "b": [0], "c": "texto"}

    found = [
        compiled(Existence(pointer=Pointer.parse(text)), context)
        for text in ("/a", "/b/0", "/b/1", "/b/-", "/c/0")
    ]

    assert found == [True, True, False, False, False]


def test_what_is_not_reached_can_not_fail() -> None:
    unanswerable = compare("EQ", path("/nowhere"), literal(1))
    yes, no = compare("EQ", literal(1), literal(1)), compare("EQ", literal(1), literal(2))

    for more in ((), (yes,)):
        assert compiled(Conjunction(operands=(no, unanswerable, *more)), {}) is False
        assert compiled(Disjunction(operands=(yes, unanswerable, *more)), {}) is True
        assert isinstance(compiled(Conjunction(operands=(yes, unanswerable, *more)), {}), EvaluationFault)
        assert isinstance(compiled(Disjunction(operands=(no, unanswerable, *more)), {}), EvaluationFault)
    assert isinstance(compiled(Negation(operand=unanswerable), {}), EvaluationFault)


def test_a_guard_with_exists_protects_what_comes_after_it_only() -> None:
    exists, compares = Existence(pointer=Pointer.parse(SCORE)), above(70)

    first = Conjunction(operands=(exists, compares))
    last = Conjunction(operands=(compares, exists))
    either = Disjunction(operands=(Negation(operand=exists), compares))

    assert [compiled(first, context) for context in ({}, scored(70), scored(71))] == [False, False, True]
    assert [compiled(either, context) for context in ({}, scored(70), scored(71))] == [True, False, True]
    assert compiled(last, {}) == EvaluationFault(fault=FaultKind.ABSENT, pointer=SCORE)
    assert isinstance(compiled(first, scored(None)), EvaluationFault)


def test_the_values_that_are_tried_are_of_every_kind() -> None:
    assert {kind_of(value) for value in (*VALUES, ABSENT)} == set(Kind)
    assert {type(value) for value in VALUES} >= {int, Decimal}


def test_the_scoring_example_routes_as_the_specification_says() -> None:
    evaluator = CompiledDecisionEvaluator()
    scores: list[JsonValue] = [71, 70, 61, 60, Decimal("70.0000001"), Decimal("60.0000001")]

    results = [evaluator.evaluate(SCORING, scored(score)) for score in scores]

    assert [result.output for result in results if isinstance(result, DecisionMade)] == [
        "N",
        "M",
        "M",
        "MANUAL",
        "N",
        "M",
    ]


@pytest.mark.parametrize("score", ["71", None, True, [], {}])
def test_a_score_that_is_no_number_never_takes_the_default(score: JsonValue) -> None:
    result = compile_decision(SCORING)(scored(score))

    assert isinstance(result, DecisionFailed)
    assert (result.rule, result.fault.fault) == ("alto", FaultKind.NOT_A_NUMBER)


def with_rules(policy: HitPolicy, *conditions: Condition) -> DecisionDefinition:
    return DecisionDefinition(
        id=DecisionKey("D"),
        hit_policy=policy,
        rules=tuple(
            Rule(id=RuleKey(f"r{number}"), when=condition, output="SAME")
            for number, condition in enumerate(conditions)
        ),
        default_output="DEFAULT",
    )


def test_two_matches_of_unique_are_ambiguous_even_when_their_outputs_agree() -> None:
    decision = with_rules(HitPolicy.UNIQUE, above(1), above(100), above(2))

    assert compile_decision(decision)(scored(50)) == DecisionAmbiguous(
        decision=DecisionKey("D"), matched_rules=(RuleKey("r0"), RuleKey("r2"))
    )


def test_an_error_in_any_rule_of_unique_counts_before_ambiguity() -> None:
    decision = with_rules(HitPolicy.UNIQUE, above(1), above(2), compare("GT", path("/x"), literal(1)))

    result = compile_decision(decision)(scored(50))

    assert isinstance(result, DecisionFailed)
    assert result.rule == "r2"


def test_first_stops_at_its_first_match_and_fails_only_before_it() -> None:
    broken = compare("GT", path("/x"), literal(1))

    reached = compile_decision(with_rules(HitPolicy.FIRST, above(99), above(1), broken))(scored(50))
    failed = compile_decision(with_rules(HitPolicy.FIRST, above(99), broken, above(1)))(scored(50))

    assert isinstance(reached, DecisionMade)
    assert (reached.matched_rules, reached.by_default, reached.hit_policy) == (
        ("r1",),
        False,
        HitPolicy.FIRST,
    )
    assert isinstance(failed, DecisionFailed)
    assert failed.rule == "r1"


def test_an_operand_is_its_literal_or_what_is_at_its_path() -> None:
    assert resolve_operand(literal([1]), {}) == [1]
    assert resolve_operand(path(SCORE), scored(Decimal("1.5"))) == Decimal("1.5")
    assert resolve_operand(path(SCORE), {}) is ABSENT


def test_the_evaluator_forgets_the_oldest_definition_and_still_answers_for_it() -> None:
    evaluator = CompiledDecisionEvaluator(kept_max=2)
    decisions = [with_rules(HitPolicy.UNIQUE, above(bound)) for bound in (10, 20, 30)]

    outputs = [evaluator.evaluate(decision, scored(15)) for decision in (*decisions, *decisions)]

    assert [result.output for result in outputs if isinstance(result, DecisionMade)] == [
        "SAME",
        "DEFAULT",
        "DEFAULT",
    ] * 2


@pytest.mark.parametrize("rules_max", [0, 20])
def test_the_evaluator_answers_alike_before_and_after_it_generates_a_function(rules_max: int) -> None:
    evaluator = CompiledDecisionEvaluator(generated_after=3, generated_rules_max=rules_max)
    scores: list[JsonValue] = [71, 65, 60, None, "71", Decimal("60.5")]

    for score in scores * 3:
        assert evaluator.evaluate(SCORING, scored(score)) == decide(SCORING, scored(score))
    assert evaluator.evaluate(SCORING, {}) == decide(SCORING, {})


# The law: compiled and naive agree, whatever the tree and whatever the context.


@given(decisions(), decision_contexts())
def test_compiled_decisions_agree_with_the_naive_walk(
    decision: DecisionDefinition, context: EvaluationContext
) -> None:
    assert compile_decision(decision)(context) == decide(decision, context)
