"""The exact analysis of decisions, held against trying every combination of representative values."""

from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator_domain.decision.cells import cells_between
from orchestrator_domain.decision.compiled import compile_condition, compile_decision, evaluate_condition
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
from orchestrator_domain.decision.outcome import DecisionAmbiguous, DecisionFailed, DecisionMade
from orchestrator_domain.decision.regions import REGIONS_MAX, Overlap, analyse
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue
from orchestrator_domain.identifiers import DecisionKey, RuleKey


def path(text: str) -> PathOperand:
    return PathOperand(pointer=Pointer.parse(text))


def test(text: str, operator: str, literal: JsonValue) -> Comparison:
    return Comparison(operator=Comparator(operator), left=path(text), right=LiteralOperand(value=literal))


test.__test__ = False  # type: ignore[attr-defined]  # a condition's test, not one of ours


def between(text: str, low: JsonValue, high: JsonValue) -> Conjunction:
    return Conjunction(operands=(test(text, "GT", low), test(text, "LTE", high)))


def decision(*conditions: Condition, policy: HitPolicy = HitPolicy.UNIQUE) -> DecisionDefinition:
    return DecisionDefinition(
        id=DecisionKey("D"),
        hit_policy=policy,
        rules=tuple(
            Rule(id=RuleKey(f"r{number}"), when=condition, output="O")
            for number, condition in enumerate(conditions)
        ),
        default_output="DEFAULT",
    )


def pairs(overlaps: tuple[Overlap, ...]) -> list[tuple[str, str, JsonObject]]:
    return [(overlap.first.id, overlap.second.id, overlap.witness) for overlap in overlaps]


def test_intervals_that_touch_do_not_overlap() -> None:
    touching = decision(test("/s", "GT", 70), between("/s", 60, 70), test("/s", "LTE", 60))

    analysis = analyse(touching)

    assert analysis.overlaps == ()
    assert analysis.left_to_default == ()


def test_intervals_that_share_one_point_overlap_there() -> None:
    sharing = decision(test("/s", "GTE", 70), between("/s", 60, 70))

    assert pairs(analyse(sharing).overlaps) == [("r0", "r1", {"s": 70})]


def test_an_overlap_between_neighbouring_decimals_is_found() -> None:
    narrow = decision(test("/s", "GT", Decimal("0.30")), test("/s", "LT", Decimal("0.31")))

    assert pairs(analyse(narrow).overlaps) == [("r0", "r1", {"s": Decimal("0.301")})]


def test_rules_that_differ_in_one_of_two_paths_do_not_overlap() -> None:
    apart = decision(
        Conjunction(operands=(test("/a", "GT", 1), test("/b", "EQ", "x"))),
        Conjunction(operands=(test("/a", "GT", 1), test("/b", "EQ", "y"))),
    )

    assert analyse(apart).overlaps == ()


def test_a_pair_that_meets_only_where_a_third_rule_fails_is_no_overlap() -> None:
    yes = Existence(pointer=Pointer.parse("/a"))
    failing = decision(yes, yes, Negation(operand=test("/b", "GT", 1)))
    always_failing = decision(yes, yes, test("/a/b", "GT", 1), test("/a", "GT", 1))

    assert pairs(analyse(failing).overlaps)[0][:2] == ("r0", "r1")
    assert analyse(always_failing).overlaps == ()


def test_nothing_is_below_a_scalar() -> None:
    above_and_below = decision(test("/a", "EQ", 1), test("/a/b", "EQ", 1))

    assert analyse(above_and_below).overlaps == ()


def test_a_rule_that_contradicts_itself_never_matches() -> None:
    contradiction = decision(between("/s", 70, 60), test("/s", "GT", "70"), test("/s", "GT", 0))

    assert [rule.id for rule in analyse(contradiction).never_matching] == ["r0", "r1"]


def test_rules_of_first_may_overlap() -> None:
    assert analyse(decision(test("/s", "GT", 1), test("/s", "GT", 2), policy=HitPolicy.FIRST)).overlaps == ()


def test_a_rule_of_first_behind_wider_ones_is_masked() -> None:
    masked = decision(
        test("/s", "GT", 60), test("/s", "LTE", 50), between("/s", 60, 70), policy=HitPolicy.FIRST
    )

    assert [(each.rule.id, each.witness) for each in analyse(masked).masked] == [("r2", {"s": 61})]


def test_a_rule_of_first_that_keeps_some_of_its_region_is_not_masked() -> None:
    left = decision(test("/s", "GT", 60), test("/s", "GTE", 60), policy=HitPolicy.FIRST)

    assert analyse(left).masked == ()


def test_a_rule_for_what_is_absent_is_masked_where_another_rule_reads_it_unguarded() -> None:
    absent = Negation(operand=Existence(pointer=Pointer.parse("/s")))
    guarded = Conjunction(operands=(Existence(pointer=Pointer.parse("/s")), test("/s", "GT", 70)))

    assert [
        (each.rule.id, each.witness) for each in analyse(decision(absent, test("/s", "GT", 70))).masked
    ] == [("r0", {})]
    assert analyse(decision(absent, guarded)).masked == ()


def test_each_region_left_to_the_default_has_its_witness() -> None:
    gaps = decision(between("/s", 0, 10), between("/s", 20, 30), test("/s", "GT", 40))

    assert analyse(gaps).left_to_default == ({"s": -1},)
    apart = decision(
        Conjunction(operands=(test("/a", "GT", 0), test("/b", "EQ", "x"))),
        Conjunction(operands=(test("/a", "LTE", 0), test("/b", "EQ", "y"))),
    )
    assert len(analyse(apart).left_to_default) == 2


def test_each_region_of_errors_has_its_rule_and_witness() -> None:
    two_paths = decision(Conjunction(operands=(test("/a", "GT", 0), test("/b", "GT", 0))))

    assert [(each.rule.id, each.witness) for each in analyse(two_paths).failing] == [
        ("r0", {"a": ""}),
        ("r0", {"a": 1, "b": ""}),
    ]


def test_regions_beyond_those_listed_are_said_to_exist() -> None:
    scattered = decision(
        *(
            Conjunction(operands=(test("/a", "EQ", number), test("/b", "EQ", number)))
            for number in range(REGIONS_MAX + 1)
        )
    )

    analysis = analyse(scattered)

    assert len(analysis.left_to_default) == REGIONS_MAX
    assert analysis.regions_left_out
    assert not analysis.incomplete


def test_an_overlap_is_shown_beside_a_rule_that_compares_paths() -> None:
    comparing = Comparison(operator=Comparator.GT, left=path("/x"), right=path("/y"))

    assert pairs(analyse(decision(test("/s", "GT", 1), comparing, test("/s", "GT", 2))).overlaps) == [
        ("r0", "r2", {"s": 3, "x": 0, "y": 0})
    ]


@pytest.mark.parametrize(
    "condition",
    [
        Comparison(operator=Comparator.GT, left=path("/a"), right=path("/b")),
        Membership(left=LiteralOperand(value="x"), right=path("/a")),
    ],
)
def test_what_compares_paths_is_said_to_be_undecided(condition: Condition) -> None:
    analysis = analyse(decision(condition, test("/a", "GT", 1)))

    assert [rule.id for rule in analysis.undecided] == ["r0"]
    assert analysis.left_to_default == ()


def test_an_exhausted_budget_is_said_and_keeps_what_was_found() -> None:
    many = decision(*(test("/s", "GT", bound) for bound in range(30)))

    analysis = analyse(many, steps_max=700)

    assert analysis.incomplete
    assert 0 < len(analysis.overlaps) < 30 * 29 // 2


@pytest.mark.parametrize(
    ("literals", "numbers"),
    [
        ([], [0]),
        ([1, 3], [0, 1, 2, 3, 4]),
        ([1, 2, 1], [0, 1, Decimal("1.1"), 2, 3]),
        ([Decimal("0.5"), Decimal("0.50")], [0, Decimal("0.5"), 1]),
        ([Decimal("-1e-30")], [-1, Decimal("-1e-30"), 0]),
        ([10**100], [0, 10**100, 2 * 10**100]),
    ],
)
def test_numbers_are_cut_at_their_literals(literals: list[JsonValue], numbers: list[JsonValue]) -> None:
    cells = cells_between(literals)

    assert cells.representatives == (*numbers, "", True, False, None, ABSENT, {})


@pytest.mark.parametrize(
    ("low", "high"), [(0, Decimal("1e-100")), (Decimal("9999999999999999999999999999999999999999e61"), None)]
)
def test_where_no_number_can_lie_no_rules_overlap(low: JsonValue, high: JsonValue) -> None:
    above = test("/s", "GT", low)
    impossible = above if high is None else Conjunction(operands=(above, test("/s", "LT", high)))

    analysis = analyse(decision(impossible, impossible))

    assert analysis.overlaps == ()
    assert [rule.id for rule in analysis.never_matching] == ["r0", "r1"]


# The law: an overlap or a gap is found exactly where some combination of representative values shows one.

_PATHS = ("/a", "/b", "/a/c")
_LITERALS: list[JsonValue] = [None, True, False, 0, 1, Decimal("0.5"), "x", ""]
_leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(test, st.sampled_from(_PATHS), st.sampled_from([*Comparator]), st.sampled_from(_LITERALS)),
    st.builds(
        lambda text, members: Membership(left=path(text), right=LiteralOperand(value=members)),
        st.sampled_from(_PATHS),
        st.sampled_from([[], [1, 2], ["x"], [True, 1]]),
    ),
    st.builds(lambda text: Existence(pointer=Pointer.parse(text)), st.sampled_from(_PATHS)),
)
_conditions: st.SearchStrategy[Condition] = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.builds(Conjunction, operands=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Disjunction, operands=st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Negation, operand=inner),
    ),
    max_leaves=6,
)


def every_context() -> list[JsonObject]:
    values = cells_between([*_LITERALS, 2]).representatives
    contexts = []
    for a, b, below in product(values, values, values):
        members: dict[str, JsonValue | Absent] = {"a": a, "b": b}
        if below is not ABSENT:
            members["a"] = {"c": below}
        contexts.append({name: value for name, value in members.items() if value is not ABSENT})
    return contexts


CONTEXTS = every_context()


@settings(max_examples=30)
@given(st.lists(_conditions, min_size=2, max_size=3))
def test_the_analysis_finds_what_trying_every_combination_finds(conditions: list[Condition]) -> None:
    definition = decision(*conditions)
    decide = compile_decision(definition)
    tried = [decide(context) for context in CONTEXTS]

    analysis = analyse(definition)

    assert not analysis.incomplete
    assert bool(analysis.overlaps) is any(isinstance(result, DecisionAmbiguous) for result in tried)
    assert bool(analysis.left_to_default) is any(
        isinstance(result, DecisionMade) and result.by_default for result in tried
    )
    assert bool(analysis.failing) is any(isinstance(result, DecisionFailed) for result in tried)


@settings(max_examples=30)
@given(st.sampled_from(HitPolicy), st.lists(_conditions, min_size=2, max_size=4))
def test_a_rule_is_without_effect_exactly_where_it_decides_no_combination(
    policy: HitPolicy, conditions: list[Condition]
) -> None:
    definition = decision(*conditions, policy=policy)
    decide = compile_decision(definition)
    deciding = {
        rule
        for context in CONTEXTS
        if isinstance(result := decide(context), DecisionMade)
        for rule in result.matched_rules
    }

    analysis = analyse(definition)

    without_effect = {rule.id for rule in analysis.never_matching} | {
        each.rule.id for each in analysis.masked
    }
    overlapping = {rule.id for overlap in analysis.overlaps for rule in (overlap.first, overlap.second)}
    assert without_effect | overlapping | deciding == {rule.id for rule in definition.rules}
    assert without_effect.isdisjoint(deciding)


@settings(max_examples=60)
@given(st.lists(_conditions, min_size=2, max_size=4))
def test_the_production_evaluator_confirms_every_witness(conditions: list[Condition]) -> None:
    definition = decision(*conditions)
    decide = compile_decision(definition)

    analysis = analyse(definition)

    for overlap in analysis.overlaps:
        result = decide(overlap.witness)
        assert isinstance(result, DecisionAmbiguous)
        assert {overlap.first.id, overlap.second.id} <= set(result.matched_rules)
    for witness in analysis.left_to_default:
        result = decide(witness)
        assert isinstance(result, DecisionMade)
        assert result.by_default
    for failing in analysis.failing:
        result = decide(failing.witness)
        assert isinstance(result, DecisionFailed)
        assert result.rule == failing.rule.id
    for masked in analysis.masked:
        assert evaluate_condition(compile_condition(masked.rule.when), masked.witness) is True
        result = decide(masked.witness)
        assert not isinstance(result, DecisionMade) or masked.rule.id not in result.matched_rules
