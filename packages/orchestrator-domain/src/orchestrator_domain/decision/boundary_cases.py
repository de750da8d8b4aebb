"""Cases at the bounds of decisions: contexts with what is expected of them, a regression suite for a flow's next version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from attrs import frozen

from orchestrator_domain.decision.boundary_values import boundary_values
from orchestrator_domain.decision.boxes import AnalysisExhausted, Budget
from orchestrator_domain.decision.compiled import compile_decision
from orchestrator_domain.decision.definition import DecisionDefinition, Rule
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
)
from orchestrator_domain.decision.rule_regions import RuleRegions
from orchestrator_domain.decision.space import Space, compared, leaves
from orchestrator_domain.decision.witness import filled, with_value_at
from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import DecisionKey

CASES_MAX: Final = 2_000
_STEPS_MAX: Final = 200_000


@frozen(kw_only=True)
class ExpectedOutput:
    output: str


@frozen(kw_only=True)
class ExpectedError:
    """`EVALUATION_ERROR` or `AMBIGUOUS_DECISION`."""

    code: str


type Expected = ExpectedOutput | ExpectedError


@frozen(kw_only=True)
class BoundaryCase:
    """What a decision answers in a context that holds nothing but the values it reads."""

    decision: DecisionKey
    context: JsonObject
    expected: Expected


@frozen(kw_only=True)
class CaseFailure:
    """A case that is answered otherwise now; `actual` None where the decision exists no more."""

    case: BoundaryCase
    actual: Expected | None


def boundary_cases(
    decisions: Iterable[DecisionDefinition], *, cases_max: int = CASES_MAX
) -> tuple[BoundaryCase, ...]:
    """Return cases for each decision, at most `cases_max` of one, none twice.

    For each rule there is a context in which it decides (where there is one), then that context with each path of the
    rule set to both sides of each bound, null, absent and every other kind. What is expected is what the decision
    answers as it stands.
    """
    return tuple(case for decision in decisions for case in islice(_cases(decision), cases_max))


def run_cases(
    decisions: Iterable[DecisionDefinition], cases: Iterable[BoundaryCase]
) -> tuple[CaseFailure, ...]:
    """Return the cases that these decisions answer otherwise than expected."""
    compiled = {decision.id: compile_decision(decision) for decision in decisions}
    failures = []
    for case in cases:
        decide = compiled.get(case.decision)
        actual = None if decide is None else expected_of(decide(case.context))
        if actual != case.expected:
            failures.append(CaseFailure(case=case, actual=actual))
    return tuple(failures)


def expected_of(result: DecisionResult) -> Expected:
    """Return what of a result a case holds fast: output or kind of error, whatever rules it came from."""
    match result:
        case DecisionMade(output=output):
            return ExpectedOutput(output=output)
        case DecisionAmbiguous():
            return ExpectedError(code="AMBIGUOUS_DECISION")
        case DecisionFailed():
            return ExpectedError(code="EVALUATION_ERROR")


def _cases(decision: DecisionDefinition) -> Iterator[BoundaryCase]:
    decide = compile_decision(decision)
    seen = set()
    for context in _contexts(decision):
        written = canonical_json(context)
        if written not in seen:
            seen.add(written)
            yield BoundaryCase(decision=decision.id, context=context, expected=expected_of(decide(context)))


def _contexts(decision: DecisionDefinition) -> Iterator[JsonObject]:
    starting_points = _starting_points(decision)
    yield from starting_points.values()
    for rule in decision.rules:
        start = starting_points.get(rule.id, _guessed(rule))
        for pointer in _pointers(rule):
            for value in boundary_values(rule.when, pointer):
                varied = with_value_at(start, pointer, value)
                if varied is not None:
                    yield varied


def _starting_points(decision: DecisionDefinition) -> Mapping[str, JsonObject]:
    """Return a context for each rule in which it decides, or else one in which it matches."""
    space, budget = Space.of(decision), Budget(_STEPS_MAX)
    found: dict[str, JsonObject] = {}
    try:
        regions = RuleRegions.of(decision, space, budget)
        for number, rule in enumerate(regions.rules):
            context = space.any_context(regions.deciding(number))
            if context is None:
                context = space.any_context(regions.matching(number))
            if context is not None:
                found[rule.id] = context
    except AnalysisExhausted:
        pass  # the rules that are left start from a guess
    return found


def _guessed(rule: Rule) -> JsonObject:
    return filled({}, _pointers(rule), 0)


def _pointers(rule: Rule) -> Sequence[Pointer]:
    """Return the paths of the rule, those above others first."""
    pointers = {pointer for leaf in leaves(rule.when) for pointer, _ in compared(leaf)}
    return sorted(pointers, key=lambda pointer: pointer.tokens)
