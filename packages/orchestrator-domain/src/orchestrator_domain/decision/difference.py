"""Where two versions of a decision answer differently, exactly, each region with a witness."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from attrs import frozen

from orchestrator_domain.decision.boundary_cases import Expected, expected_of
from orchestrator_domain.decision.boxes import AnalysisExhausted, Box, Budget, meeting, merged
from orchestrator_domain.decision.compiled import compile_decision
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy
from orchestrator_domain.decision.region_wording import box_in_words
from orchestrator_domain.decision.rule_regions import RuleRegions
from orchestrator_domain.decision.space import Space, is_decidable
from orchestrator_domain.exact_json.value import JsonObject

STEPS_MAX: Final = 400_000
REGIONS_MAX: Final = 50


@frozen(kw_only=True)
class ChangedRegion:
    """Contexts that are answered differently: where they lie in words, both answers, and one of them."""

    where: str
    before: Expected
    after: Expected
    witness: JsonObject


@frozen(kw_only=True)
class DecisionDifference:
    """Every changed region, unless `complete` is false: rules compare paths, or there was too much to look at."""

    regions: tuple[ChangedRegion, ...] = ()
    complete: bool = True


def decision_difference(
    old: DecisionDefinition, new: DecisionDefinition, *, steps_max: int = STEPS_MAX
) -> DecisionDifference:
    """Compare two decisions over all contexts; every witness was confirmed by the production evaluator."""
    if not all(is_decidable(rule.when) for rule in (*old.rules, *new.rules)):
        return DecisionDifference(complete=False)
    space, budget = Space.of(old, new), Budget(steps_max)
    try:
        changed = _changed_boxes(old, new, space, budget)
    except AnalysisExhausted:
        return DecisionDifference(complete=False)
    regions = [region for answers, seen in changed.items() for region in _regions(answers, seen, space)]
    return DecisionDifference(regions=tuple(regions[:REGIONS_MAX]), complete=len(regions) <= REGIONS_MAX)


type _Answers = tuple[Expected, Expected]
type _Seen = tuple[Box, JsonObject]


def _changed_boxes(
    old: DecisionDefinition, new: DecisionDefinition, space: Space, budget: Budget
) -> dict[_Answers, list[_Seen]]:
    decide_old, decide_new = compile_decision(old), compile_decision(new)
    pieces_of_new = list(_pieces(new, space, budget))
    changed: dict[_Answers, list[_Seen]] = {}
    for piece in _pieces(old, space, budget):
        budget.spend(len(pieces_of_new))
        for other in pieces_of_new:
            both = meeting(piece, other)
            witness = None if both is None else space.context_in(both)
            if both is None or witness is None:
                continue
            before, after = expected_of(decide_old(witness)), expected_of(decide_new(witness))
            if before != after:
                changed.setdefault((before, after), []).append((both, witness))
    return changed


def _pieces(decision: DecisionDefinition, space: Space, budget: Budget) -> Iterator[Box]:
    """Yield boxes that cover all contexts together, in each of which the decision answers alike."""
    regions = RuleRegions.of(decision, space, budget)
    numbers = range(len(regions.rules))
    yield from chain.from_iterable(regions.deciding(number) for number in numbers)
    yield from chain.from_iterable(regions.failing(number) for number in numbers)
    yield from regions.unmatched()
    if decision.hit_policy is HitPolicy.UNIQUE:
        for _, _, shared in regions.meetings():
            yield from regions.answered_by_all(shared)


def _regions(answers: _Answers, seen: list[_Seen], space: Space) -> Iterator[ChangedRegion]:
    for region in merged(tuple(box for box, _ in seen)):
        witness = next(witness for box, witness in seen if _lies_in(box, region))
        yield ChangedRegion(
            where=box_in_words(region, space), before=answers[0], after=answers[1], witness=witness
        )


def _lies_in(box: Box, region: Box) -> bool:
    return all(number in box and box[number] & ~cells == 0 for number, cells in region.items())
