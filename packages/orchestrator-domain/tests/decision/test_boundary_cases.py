"""Cases at the bounds of a decision: what they cover, and which changes they notice."""

from decimal import Decimal

import pytest
from attrs import evolve

from orchestrator_domain.decision.boundary_cases import (
    BoundaryCase,
    ExpectedError,
    ExpectedOutput,
    boundary_cases,
    run_cases,
)
from orchestrator_domain.decision.case_document import InvalidCases, cases_document, read_cases
from orchestrator_domain.decision.condition import (
    Comparator,
    Comparison,
    Condition,
    Conjunction,
    Existence,
    LiteralOperand,
    PathOperand,
)
from orchestrator_domain.decision.definition import DecisionDefinition, Rule
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import dump_json, parse_json
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonValue, check_exact
from orchestrator_domain.identifiers import DecisionKey, RuleKey

SCORE = "/results/buro/score"
ERROR = ExpectedError(code="EVALUATION_ERROR")


def comparing(text: str, operator: str, literal: JsonValue) -> Comparison:
    return Comparison(
        operator=Comparator(operator),
        left=PathOperand(pointer=Pointer.parse(text)),
        right=LiteralOperand(value=literal),
    )


def both(*operands: Condition) -> Conjunction:
    return Conjunction(operands=operands)


def scoring(low: JsonValue = 60, high: JsonValue = 70) -> DecisionDefinition:
    return DecisionDefinition(
        id=DecisionKey("RUTA"),
        rules=(
            Rule(id=RuleKey("alto"), when=comparing(SCORE, "GT", high), output="N"),
            Rule(
                id=RuleKey("medio"),
                when=both(comparing(SCORE, "GT", low), comparing(SCORE, "LTE", high)),
                output="M",
            ),
        ),
        default_output="MANUAL",
    )


def expectations(cases: tuple[BoundaryCase, ...]) -> dict[JsonValue | Absent, object]:
    found: dict[JsonValue | Absent, object] = {}
    for case in cases:
        value = Pointer.parse(SCORE).resolve(case.context)
        found["container" if isinstance(value, dict) else value] = case.expected
    return found


def test_both_sides_of_each_bound_and_every_other_kind_are_covered() -> None:
    manual, m, n = (ExpectedOutput(output=output) for output in ("MANUAL", "M", "N"))

    expected = expectations(boundary_cases([scoring()]))

    assert expected[Decimal("59.99")] == expected[60] == manual
    assert expected[Decimal("60.01")] == expected[Decimal("69.99")] == expected[70] == m
    assert expected[Decimal("70.01")] == n
    assert all(expected[value] == ERROR for value in (None, ABSENT, "", "container"))


@pytest.mark.parametrize(
    "changed",
    [scoring(high=71), scoring(high=Decimal("70.5")), scoring(low=Decimal("59.995")), scoring(low=61)],
)
def test_a_moved_bound_is_noticed(changed: DecisionDefinition) -> None:
    failures = run_cases([changed], boundary_cases([scoring()]))

    assert failures
    assert all(failure.actual != failure.case.expected for failure in failures)


def test_a_guard_that_gets_lost_is_noticed() -> None:
    guard = Existence(pointer=Pointer.parse("/request/data/plazo"))
    bare = comparing("/request/data/plazo", "GT", 12)
    guarded = evolve(scoring(), rules=(Rule(id=RuleKey("largo"), when=both(guard, bare), output="L"),))
    unguarded = evolve(guarded, rules=(Rule(id=RuleKey("largo"), when=bare, output="L"),))

    (failure,) = run_cases([unguarded], boundary_cases([guarded]))

    assert (failure.case.context, failure.actual) == ({"request": {"data": {}}}, ERROR)


def test_what_means_the_same_passes_whatever_its_rules_are_called() -> None:
    renamed = evolve(
        scoring(),
        rules=tuple(evolve(rule, id=RuleKey(f"otra-{rule.id}")) for rule in reversed(scoring().rules)),
    )

    assert run_cases([renamed], boundary_cases([scoring()])) == ()


def test_a_decision_that_is_gone_fails_its_cases() -> None:
    cases = boundary_cases([scoring()])

    assert {failure.actual for failure in run_cases([], cases)} == {None}
    assert len(run_cases([], cases)) == len(cases)


def test_rules_that_compare_paths_have_cases_too() -> None:
    comparison = Comparison(
        operator=Comparator.GT,
        left=PathOperand(pointer=Pointer.parse("/event/data/a")),
        right=PathOperand(pointer=Pointer.parse("/event/data/b")),
    )
    decision = evolve(scoring(), rules=(Rule(id=RuleKey("r"), when=comparison, output="S"),))

    assert {repr(case.expected) for case in boundary_cases([decision])} == {
        repr(ERROR),
        repr(ExpectedOutput(output="MANUAL")),
    }


def test_no_case_comes_twice_and_a_decision_has_no_more_than_allowed() -> None:
    cases = boundary_cases([scoring()])
    written = [dump_json(case.context) for case in cases]

    assert len(set(written)) == len(written)
    assert boundary_cases([scoring()], cases_max=3) == cases[:3]


@pytest.mark.parametrize("bound", [Decimal("1e-100"), 10**100, Decimal("9" * 40), Decimal("-0.5")])
def test_cases_at_the_edge_of_what_numbers_may_be_are_still_exact(bound: JsonValue) -> None:
    for case in boundary_cases([scoring(high=bound, low=0)]):
        check_exact(case.context)


def test_cases_are_read_back_as_they_were_written() -> None:
    cases = boundary_cases([scoring()])

    assert read_cases(parse_json(dump_json(cases_document(cases)))) == cases


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({"schemaVersion": 2, "cases": []}, "/schemaVersion"),
        ({"schemaVersion": 1, "cases": {}}, "/cases"),
        ({"schemaVersion": 1, "cases": [{}]}, "/cases/0"),
        ({"schemaVersion": 1, "cases": [{"decision": 1, "context": {}, "expected": {}}]}, "/cases/0"),
        (
            {"schemaVersion": 1, "cases": [{"decision": "D", "context": {}, "expected": {"error": "X"}}]},
            "/cases/0/expected",
        ),
    ],
)
def test_what_holds_no_cases_is_refused_with_its_place(document: JsonValue, pointer: str) -> None:
    with pytest.raises(InvalidCases) as refusal:
        read_cases(document)

    assert refusal.value.pointer == pointer
