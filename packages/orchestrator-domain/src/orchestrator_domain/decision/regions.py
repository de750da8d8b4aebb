"""What the rules of a decision do to one another, exactly: overlaps, gaps, failures, and rules that never decide.

Each path is cut into cells at the literals that it is compared with (Calvanese and others, "Semantics, analysis and
simplification of DMN decision tables", 2018, cut decision tables alike); a condition is answered once for each cell, by
the production evaluator. Conditions with errors have three values, so where one is true, false and an error are kept
apart. A condition that compares two paths is not decided here. Every witness was confirmed by the production evaluator.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Final

from attrs import define, field, frozen

from orchestrator_domain.decision.boxes import AnalysisExhausted, Box, Budget, merged
from orchestrator_domain.decision.compiled import CompiledDecision, compile_decision
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
)
from orchestrator_domain.decision.rule_regions import RuleRegions
from orchestrator_domain.decision.space import Space, compared, is_decidable, leaves
from orchestrator_domain.decision.witness import filled
from orchestrator_domain.exact_json.value import JsonObject, JsonValue

STEPS_MAX: Final = 200_000
REGIONS_MAX: Final = 10
_RULES_IN_A_STEP: Final = 8
_FRAGMENTS_MAX: Final = 20 * REGIONS_MAX
type _Confirms = Callable[[DecisionResult], bool]

# One of each kind that two paths may be compared as.
_FILLINGS: Final[tuple[JsonValue, ...]] = (0, "", True)


@frozen(kw_only=True)
class Overlap:
    """Two rules of a UNIQUE decision that both match `witness`."""

    first: Rule
    second: Rule
    witness: JsonObject


@frozen(kw_only=True)
class RuleAt:
    """A rule, and a context that shows what is said of it."""

    rule: Rule
    witness: JsonObject


@frozen(kw_only=True)
class Analysis:
    """What was found.

    - `overlaps`: pairs of rules of a UNIQUE decision.
    - `never_matching`: rules that are true nowhere.
    - `masked`: rules that match, as in the witness, but only where other rules keep them from deciding.
    - `left_to_default`: a context of each region where no rule matches and none fails.
    - `failing`: a context of each region where the decision is an error, and the rule that fails there.
    - `undecided`: rules that compare paths with one another.
    - `incomplete`: the budget cut the work; more overlaps, masked rules and regions may exist.
    - `steps`: how much of the budget was used.
    - `regions_left_out`: there are more regions of the default or of errors than are listed.
    """

    overlaps: tuple[Overlap, ...] = ()
    never_matching: tuple[Rule, ...] = ()
    masked: tuple[RuleAt, ...] = ()
    left_to_default: tuple[JsonObject, ...] = ()
    failing: tuple[RuleAt, ...] = ()
    undecided: tuple[Rule, ...] = ()
    incomplete: bool = False
    steps: int = 0
    regions_left_out: bool = False


def analyse(definition: DecisionDefinition, *, steps_max: int = STEPS_MAX) -> Analysis:
    """Analyse a decision; what was found before the budget of steps was used up is kept."""
    look = _Look(definition=definition, budget=Budget(steps_max))
    try:
        look.around()
        incomplete = False
    except AnalysisExhausted:
        incomplete = True
    return Analysis(
        overlaps=tuple(look.overlaps),
        never_matching=tuple(look.never_matching),
        masked=tuple(look.masked),
        left_to_default=tuple(look.left_to_default),
        failing=tuple(look.failing),
        undecided=look.undecided,
        incomplete=incomplete,
        steps=steps_max - max(look.budget.steps, 0),
        regions_left_out=look.regions_left_out,
    )


@define(kw_only=True)
class _Look:
    """Gather findings one by one, so that an exhausted budget loses none that was made."""

    definition: DecisionDefinition
    budget: Budget
    space: Space = field(init=False)
    decide: CompiledDecision = field(init=False)
    undecided: tuple[Rule, ...] = field(init=False)
    overlaps: list[Overlap] = field(factory=list, init=False)
    never_matching: list[Rule] = field(factory=list, init=False)
    masked: list[RuleAt] = field(factory=list, init=False)
    left_to_default: list[JsonObject] = field(factory=list, init=False)
    failing: list[RuleAt] = field(factory=list, init=False)
    regions_left_out: bool = field(default=False, init=False)

    @space.default
    def _space(self) -> Space:
        return Space.of(self.definition)

    @decide.default
    def _decide(self) -> CompiledDecision:
        return compile_decision(self.definition)

    @undecided.default
    def _undecided(self) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.definition.rules if not is_decidable(rule.when))

    def around(self) -> None:
        regions = RuleRegions.of(self.definition, self.space, self.budget)
        if self.definition.hit_policy is HitPolicy.UNIQUE:
            self._look_for_overlaps(regions)
        self._look_for_rules_without_effect(regions)
        if not self.undecided:
            self._keep(regions.unmatched(), _is_default, self.left_to_default.append, room=REGIONS_MAX)
        self._look_for_failures(regions)

    def _look_for_overlaps(self, regions: RuleRegions) -> None:
        for first, second, shared in regions.meetings():
            one, other = regions.rules[first], regions.rules[second]
            # Where another rule fails, its error counts before the ambiguity: then a better witness is looked for.
            boxes = chain(shared, islice(regions.answered_by_all(shared), _FRAGMENTS_MAX))
            witness = next(self._confirmed(boxes, _is_ambiguous_between(one, other)), None)
            if witness is not None:
                self.overlaps.append(Overlap(first=one, second=other, witness=witness))

    def _look_for_rules_without_effect(self, regions: RuleRegions) -> None:
        overlapping = {rule.id for overlap in self.overlaps for rule in (overlap.first, overlap.second)}
        for number, rule in enumerate(regions.rules):
            witness = self.space.any_context(regions.matching(number))
            if witness is None:
                self.never_matching.append(rule)
            elif rule.id not in overlapping and self.space.any_context(regions.deciding(number)) is None:
                self.masked.append(RuleAt(rule=rule, witness=witness))

    def _look_for_failures(self, regions: RuleRegions) -> None:
        for number, rule in enumerate(regions.rules):
            if self.definition.hit_policy is HitPolicy.FIRST and self._follows_an_undecided(rule):
                return
            if self.regions_left_out and len(self.failing) == REGIONS_MAX:
                return
            self._keep(
                regions.failing(number),
                _is_failure,
                lambda witness, rule=rule: self.failing.append(RuleAt(rule=rule, witness=witness)),  # type: ignore[misc]  # bound to this rule
                room=REGIONS_MAX - len(self.failing),
            )

    def _follows_an_undecided(self, rule: Rule) -> bool:
        rules = self.definition.rules
        return bool(self.undecided) and rules.index(self.undecided[0]) < rules.index(rule)

    def _keep(
        self, boxes: Iterator[Box], confirms: _Confirms, keep: Callable[[JsonObject], None], *, room: int
    ) -> None:
        """Keep one context of each region, also of those that were found before the budget was used up."""
        fragments: list[Box] = []
        try:
            fragments.extend(islice(boxes, _FRAGMENTS_MAX))
        finally:
            witnesses = list(islice(self._confirmed(merged(tuple(fragments)), confirms), room + 1))
            for witness in witnesses[:room]:
                keep(witness)
            self.regions_left_out |= len(witnesses) > room or len(fragments) == _FRAGMENTS_MAX

    def _confirmed(self, boxes: Iterable[Box], confirms: _Confirms) -> Iterator[JsonObject]:
        """Yield a context out of each box for which the evaluator answers as expected."""
        for box in boxes:
            self.budget.spend(len(self.definition.rules) // _RULES_IN_A_STEP + 1)
            context = self.space.context_in(box)
            if context is not None and confirms(self.decide(context)):
                yield context
            elif context is not None and self.undecided:
                yield from islice(self._filled(context, confirms), 1)

    def _filled(self, context: JsonObject, confirms: _Confirms) -> Iterator[JsonObject]:
        """Try values where a rule reads that isn't decided here: where it finds none, it would fail."""
        pointers = {
            pointer for rule in self.undecided for leaf in leaves(rule.when) for pointer, _ in compared(leaf)
        }
        for value in _FILLINGS:
            candidate = filled(context, sorted(pointers, key=str), value)
            if confirms(self.decide(candidate)):
                yield candidate


def _is_default(result: DecisionResult) -> bool:
    return isinstance(result, DecisionMade) and result.by_default


def _is_failure(result: DecisionResult) -> bool:
    return isinstance(result, DecisionFailed)


def _is_ambiguous_between(first: Rule, second: Rule) -> _Confirms:
    pair = {first.id, second.id}
    return lambda result: isinstance(result, DecisionAmbiguous) and pair <= set(result.matched_rules)
