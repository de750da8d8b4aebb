"""Where the rules of a decision match, exactly: overlaps, what only the default catches, and rules that never match.

Each path is cut into cells at the literals that it is compared with (Calvanese and others, "Semantics, analysis and
simplification of DMN decision tables", 2018, cut decision tables alike); a condition is answered once for each cell, by
the production evaluator. Conditions with errors have three values, so where one is true and where it is false are kept
apart. A condition that compares two paths is not decided here.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Final, assert_never

from attrs import define, field, frozen

from orchestrator_domain.decision.boxes import (
    EVERYTHING,
    NOTHING,
    AnalysisExhausted,
    Answers,
    Box,
    Budget,
    Region,
    conjunction,
    disjunction,
    intersection,
    meeting,
)
from orchestrator_domain.decision.cells import Cells, cells_between
from orchestrator_domain.decision.compiled import compile_condition, compile_decision, evaluate_condition
from orchestrator_domain.decision.condition import (
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
from orchestrator_domain.decision.outcome import DecisionFailed
from orchestrator_domain.decision.witness import context_in
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, JsonObject, JsonValue

STEPS_MAX: Final = 200_000


@frozen(kw_only=True)
class Overlap:
    """Two rules of a UNIQUE decision that both match `witness`."""

    first: Rule
    second: Rule
    witness: JsonObject


@frozen(kw_only=True)
class Analysis:
    """What was found; `incomplete` says that the budget cut the work, `undecided` which rules compare paths."""

    overlaps: tuple[Overlap, ...] = ()
    never_matching: tuple[Rule, ...] = ()
    left_to_default: JsonObject | None = None
    undecided: tuple[Rule, ...] = ()
    incomplete: bool = False


def analyse(definition: DecisionDefinition, *, steps_max: int = STEPS_MAX) -> Analysis:
    """Analyse a decision; what was found before the budget of steps was used up is kept."""
    undecided = tuple(rule for rule in definition.rules if not _is_decidable(rule.when))
    found = _Found(
        definition=definition,
        rules=[rule for rule in definition.rules if rule not in undecided],
        space=Space.of(definition),
        budget=Budget(steps_max),
    )
    try:
        found.look()
        incomplete = False
    except AnalysisExhausted:
        incomplete = True
    return Analysis(
        overlaps=tuple(found.overlaps),
        never_matching=tuple(found.never_matching),
        left_to_default=found.left_to_default,
        undecided=undecided,
        incomplete=incomplete,
    )


@define(kw_only=True)
class _Found:
    """Gather findings one by one, so that an exhausted budget loses none that was made."""

    definition: DecisionDefinition
    rules: list[Rule]
    space: "Space"
    budget: Budget
    answers: dict[str, Answers] = field(factory=dict, init=False)
    overlaps: list[Overlap] = field(factory=list, init=False)
    never_matching: list[Rule] = field(factory=list, init=False)
    left_to_default: JsonObject | None = field(default=None, init=False)

    def look(self) -> None:
        for rule in self.rules:
            self.answers[rule.id] = self.space.answers(rule.when, self.budget)
            if self.space.any_context(self.answers[rule.id].true) is None:
                self.never_matching.append(rule)
        if self.definition.hit_policy is HitPolicy.UNIQUE:
            self._look_for_overlaps()
        if len(self.rules) == len(self.definition.rules):
            self.left_to_default = self._unmatched_context()

    def _look_for_overlaps(self) -> None:
        decide = compile_decision(self.definition)
        for first, second in combinations(self.rules, 2):
            shared = self._shared(first, second)
            witness = self.space.any_context(shared)
            if witness is not None:
                # Where another rule fails, its error counts before the ambiguity: look for a better witness.
                self.budget.spend(len(self.rules))
                if isinstance(decide(witness), DecisionFailed):
                    witness = self._answered_context(shared, {first.id, second.id})
            if witness is not None:
                self.overlaps.append(Overlap(first=first, second=second, witness=witness))

    def _shared(self, first: Rule, second: Rule) -> Region:
        left, right = self.answers[first.id].true, self.answers[second.id].true
        self.budget.spend(len(left) * len(right) + 1)
        return tuple(box for one in left for other in right if (box := meeting(one, other)) is not None)

    def _answered_context(self, shared: Region, pair: set[str]) -> JsonObject | None:
        for rule in self.rules:
            if rule.id not in pair:
                shared = intersection(shared, self.answers[rule.id].known(), self.budget)
        return self.space.any_context(shared)

    def _unmatched_context(self) -> JsonObject | None:
        unmatched = EVERYTHING
        for rule in self.rules:
            unmatched = intersection(unmatched, self.answers[rule.id].false, self.budget)
        return self.space.any_context(unmatched)


@frozen(kw_only=True)
class Space:
    """The paths that a decision reads, each cut into its cells."""

    pointers: tuple[Pointer, ...]
    cells: tuple[Cells, ...]
    numbers: Mapping[Pointer, int] = field(init=False)

    @numbers.default
    def _number(self) -> Mapping[Pointer, int]:
        return {pointer: number for number, pointer in enumerate(self.pointers)}

    @classmethod
    def of(cls, definition: DecisionDefinition) -> "Space":
        literals: dict[Pointer, list[JsonValue]] = {}
        for rule in definition.rules:
            for leaf in leaves(rule.when):
                for pointer, values in _compared(leaf):
                    literals.setdefault(pointer, []).extend(values)
        return cls(
            pointers=tuple(literals), cells=tuple(cells_between(values) for values in literals.values())
        )

    def answers(self, condition: Condition, budget: Budget) -> Answers:
        """Return where the condition is true and where it is false."""
        match condition:
            case Conjunction(operands=operands):
                return conjunction((self.answers(operand, budget) for operand in operands), budget)
            case Disjunction(operands=operands):
                return disjunction((self.answers(operand, budget) for operand in operands), budget)
            case Negation(operand=operand):
                return self.answers(operand, budget).negated()
            case Comparison() | Membership() | Existence():
                return self._leaf(condition, budget)
            case _ as unreachable:
                assert_never(unreachable)

    def any_context(self, region: Iterable[Box]) -> JsonObject | None:
        """Return a context that lies in the region, or None if there is none."""
        contexts = (context_in(box, self.pointers, self.cells) for box in region)
        return next((context for context in contexts if context is not None), None)

    def _leaf(self, leaf: Comparison | Membership | Existence, budget: Budget) -> Answers:
        compiled = compile_condition(leaf)
        compared = _compared(leaf)
        if not compared:
            answer = evaluate_condition(compiled, {})
            return Answers(
                true=EVERYTHING if answer is True else NOTHING,
                false=EVERYTHING if answer is False else NOTHING,
            )
        pointer, number = compared[0][0], self.numbers[compared[0][0]]
        budget.spend(len(self.cells[number].representatives))
        true = false = 0
        for bit, representative in enumerate(self.cells[number].representatives):
            answer = evaluate_condition(compiled, _holding(pointer, representative))
            true |= (answer is True) << bit
            false |= (answer is False) << bit
        return Answers(true=_one_path(number, true), false=_one_path(number, false))


def _one_path(number: int, cells: int) -> Region:
    return ({number: cells},) if cells else NOTHING


def _holding(pointer: Pointer, value: object) -> JsonObject:
    if value is ABSENT:
        return {}
    for token in reversed(pointer.tokens):
        value = {token: value}
    return value  # type: ignore[return-value]  # a path of conditions has tokens, so this is an object


def leaves(condition: Condition) -> Iterator[Comparison | Membership | Existence]:
    """Yield the conditions that connectives join, in their order."""
    match condition:
        case Conjunction(operands=operands) | Disjunction(operands=operands):
            for operand in operands:
                yield from leaves(operand)
        case Negation(operand=operand):
            yield from leaves(operand)
        case Comparison() | Membership() | Existence():
            yield condition
        case _ as unreachable:
            assert_never(unreachable)


def _compared(leaf: Comparison | Membership | Existence) -> list[tuple[Pointer, list[JsonValue]]]:
    """Return each path of the leaf with the literals that it is compared with."""
    if isinstance(leaf, Existence):
        return [(leaf.pointer, [])]
    operands = (leaf.left, leaf.right)
    literals = [operand.value for operand in operands if isinstance(operand, LiteralOperand)]
    members = [each for value in literals for each in (value if isinstance(value, list) else [value])]
    return [(operand.pointer, members) for operand in operands if isinstance(operand, PathOperand)]


def _is_decidable(condition: Condition) -> bool:
    return all(_is_decidable_leaf(leaf) for leaf in leaves(condition))


def _is_decidable_leaf(leaf: Comparison | Membership | Existence) -> bool:
    if isinstance(leaf, Membership) and isinstance(leaf.right, PathOperand):
        return False
    return len(_compared(leaf)) < 2
