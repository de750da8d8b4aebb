"""Where each rule of a decision decides, where it fails, and what no rule matches, as unions of boxes."""

from collections.abc import Iterator, Sequence
from typing import Self

from attrs import frozen

from orchestrator_domain.decision.boxes import EVERYTHING, Answers, Box, Budget, meeting
from orchestrator_domain.decision.coverage import Coverage, members_of
from orchestrator_domain.decision.definition import DecisionDefinition, HitPolicy, Rule
from orchestrator_domain.decision.space import Space, is_decidable


@frozen(kw_only=True)
class RuleRegions:
    """The rules that can be decided, in their order; a set of boxes (true, error) for each.

    Every method raises AnalysisExhausted when the budget is used up.
    """

    rules: Sequence[Rule]
    hit_policy: HitPolicy
    _answers: Sequence[Answers]
    _coverage: Coverage
    _owners: Sequence[int]
    _true: Sequence[int]
    _error: Sequence[int]

    @classmethod
    def of(cls, definition: DecisionDefinition, space: Space, budget: Budget) -> Self:
        rules = [rule for rule in definition.rules if is_decidable(rule.when)]
        answers = [space.answers(rule.when, budget) for rule in rules]
        boxes: list[Box] = []
        true = [_added(boxes, each.true) for each in answers]
        error = [_added(boxes, each.error) for each in answers]
        owners = [number for number, each in enumerate(answers) for _ in each.true]
        return cls(
            rules=rules,
            hit_policy=definition.hit_policy,
            answers=answers,
            coverage=Coverage(boxes=boxes, every_cell=[cells.every for cells in space.cells], budget=budget),
            owners=owners,
            true=true,
            error=error,
        )

    def matching(self, number: int) -> Sequence[Box]:
        """Return where the rule matches, whatever others do."""
        return self._answers[number].true

    def deciding(self, number: int) -> Iterator[Box]:
        """Yield where the decision is what this rule says: it matches, and no other rule is in its way."""
        cover = self._in_the_way_of(number)
        for box in self._answers[number].true:
            yield from self._coverage.uncovered(box, cover)

    def failing(self, number: int) -> Iterator[Box]:
        """Yield where the decision fails by this rule."""
        cover = _union(self._error[:number])
        if self.hit_policy is HitPolicy.FIRST:
            cover |= _union(self._true[:number])
        for box in self._answers[number].error:
            yield from self._coverage.uncovered(box, cover)

    def unmatched(self) -> Iterator[Box]:
        """Yield where every rule is false."""
        for box in EVERYTHING:
            yield from self._coverage.uncovered(box, _union(self._true) | _union(self._error))

    def meetings(self) -> Iterator[tuple[int, int, list[Box]]]:
        """Yield each pair of rules that match together, with the boxes that they share."""
        for number in range(len(self.rules)):
            later = _union(self._true[number + 1 :])
            shared: dict[int, list[Box]] = {}
            for box in self._answers[number].true:
                for met in members_of(self._coverage.meeting(box, later)):
                    both = meeting(box, self._coverage.boxes[met])
                    assert both is not None, "boxes that meet share a box"
                    shared.setdefault(self._owners[met], []).append(both)
            for other in sorted(shared):
                self._coverage.budget.spend(len(shared[other]))
                yield number, other, shared[other]

    def answered_by_all(self, boxes: Sequence[Box]) -> Iterator[Box]:
        """Yield the parts of the boxes where no rule fails."""
        for box in boxes:
            yield from self._coverage.uncovered(box, _union(self._error))

    def _in_the_way_of(self, number: int) -> int:
        ahead = _union(self._true[:number]) | _union(self._error[:number])
        if self.hit_policy is HitPolicy.FIRST:
            return ahead
        return ahead | _union(self._true[number + 1 :]) | _union(self._error[number + 1 :])


def _added(boxes: list[Box], more: Sequence[Box]) -> int:
    """Append boxes to the list, and return them as a set."""
    first = len(boxes)
    boxes.extend(more)
    return (1 << len(boxes)) - (1 << first)


def _union(sets: Sequence[int]) -> int:
    union = 0
    for each in sets:
        union |= each
    return union
