"""Changed regions of decisions: every witness shows a change, and no change is missed."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings

from orchestrator_domain.decision.boundary_cases import ExpectedError, ExpectedOutput, expected_of
from orchestrator_domain.decision.compiled import compile_decision
from orchestrator_domain.decision.condition import (
    Comparison,
    Conjunction,
    Disjunction,
    Existence,
    Membership,
    Negation,
    PathOperand,
)
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.difference import decision_difference
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.document.decisions import read_decision
from orchestrator_domain.flow.document.reading import Reading, Unreadable
from orchestrator_domain.testing.decision_strategies import decision_contexts, decisions


def decision(*rules: tuple[Any, str], default: str = "D", policy: str = "UNIQUE") -> DecisionDefinition:
    document: Any = {
        "id": "d",
        "hitPolicy": policy,
        "rules": [{"id": f"r{n}", "when": when, "output": output} for n, (when, output) in enumerate(rules)],
        "defaultOutput": default,
    }
    read = read_decision(Reading(), document, Pointer.root())
    assert not isinstance(read, Unreadable)
    return read


def compared(operator: str, literal: Any, path: str = "/results/a") -> Any:
    return {"op": operator, "left": {"path": path}, "right": {"literal": literal}}


def both(*conditions: Any) -> Any:
    return {"op": "AND", "args": list(conditions)}


def regions(old: DecisionDefinition, new: DecisionDefinition) -> list[tuple[str, Any, Any]]:
    return [(each.where, each.before, each.after) for each in decision_difference(old, new).regions]


N, M, D = (ExpectedOutput(output=output) for output in "NMD")
ERROR = ExpectedError(code="EVALUATION_ERROR")


def test_a_moved_bound_changes_exactly_what_lies_between() -> None:
    def version(bound: int) -> DecisionDefinition:
        return decision((compared("GT", bound), "N"), (both(compared("GT", 60), compared("LTE", bound)), "M"))

    assert regions(version(70), version(75)) == [("a > 70 and ≤ 75", N, M)]
    assert regions(version(70), version(70)) == []


def test_a_stricter_bound_changes_one_value() -> None:
    assert regions(decision((compared("GT", 70), "N")), decision((compared("GTE", 70), "N"))) == [
        ("a = 70", D, N)
    ]


@pytest.mark.parametrize(
    ("old", "new", "where", "before", "after"),
    [
        (compared("EQ", "A"), compared("IN", ["A", "B"]), 'a = "B"', D, N),
        (
            compared("IN", ["A"]),
            {"op": "NOT", "arg": compared("EQ", "B")},
            'a is a string other than "A", "B"',
            D,
            N,
        ),
        (
            {"op": "EXISTS", "arg": {"path": "/results/a"}},
            {"op": "NOT", "arg": compared("EQ", None)},
            "a is null",
            N,
            D,
        ),
        (compared("LT", 0), compared("LT", 10), "a ≥ 0 and < 10", D, N),
    ],
)
def test_regions_are_told_in_words(old: Any, new: Any, where: str, before: Any, after: Any) -> None:
    assert (where, before, after) in regions(decision((old, "N")), decision((new, "N")))


def test_a_new_error_is_a_change_too() -> None:
    old = decision((both({"op": "EXISTS", "arg": {"path": "/results/a"}}, compared("GT", 1)), "N"))

    assert regions(old, decision((compared("GT", 1), "N"))) == [("a is absent", D, ERROR)]


def test_decisions_that_compare_paths_are_said_to_be_compared_in_part() -> None:
    paths: Any = {"op": "EQ", "left": {"path": "/event/data/a"}, "right": {"path": "/event/data/b"}}

    assert not decision_difference(decision((paths, "N")), decision((compared("GT", 1), "N"))).complete


def test_a_budget_that_is_too_small_is_said_to_be_so() -> None:
    old, new = decision((compared("GT", 1), "N")), decision((compared("GT", 2), "N"))

    assert not decision_difference(old, new, steps_max=3).complete


def below(decision: DecisionDefinition) -> DecisionDefinition:
    """Return the decision with its paths below a member, for the flow language has no empty path."""
    return evolve(decision, rules=tuple(evolve(rule, when=moved(rule.when)) for rule in decision.rules))


def moved(part: Any) -> Any:
    match part:
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            return evolve(part, operands=tuple(map(moved, operands)))
        case Negation(operand=operand):
            return evolve(part, operand=moved(operand))
        case Comparison(left=left, right=right) | Membership(left=left, right=right):
            return evolve(part, left=moved(left), right=moved(right))
        case Existence(pointer=pointer) | PathOperand(pointer=pointer):
            return evolve(part, pointer=Pointer(tokens=("x", *pointer.tokens)))
        case _:
            return part


@settings(max_examples=60)
@given(decisions(), decisions(), decision_contexts())
def test_every_witness_shows_its_change_and_no_change_is_missed(
    old: DecisionDefinition, new: DecisionDefinition, context: Any
) -> None:
    old, new, context = below(old), below(new), {"x": context}
    decide_old, decide_new = compile_decision(old), compile_decision(new)
    difference = decision_difference(old, new)

    for region in difference.regions:
        assert expected_of(decide_old(region.witness)) == region.before
        assert expected_of(decide_new(region.witness)) == region.after
        assert region.before != region.after
    answers = (expected_of(decide_old(context)), expected_of(decide_new(context)))
    if difference.complete and answers[0] != answers[1]:
        assert answers in [(region.before, region.after) for region in difference.regions]
