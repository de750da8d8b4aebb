"""How conditions and decisions come to their answers in one context, and what the nearest other answers would need."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import assert_never

from attrs import frozen

from orchestrator_domain.decision.boundary_cases import Expected, ExpectedOutput, expected_of
from orchestrator_domain.decision.boxes import AnalysisExhausted, Box, Budget
from orchestrator_domain.decision.cells import Cells
from orchestrator_domain.decision.compiled import compile_condition, compile_decision, evaluate_condition
from orchestrator_domain.decision.condition import (
    Comparison,
    Condition,
    Conjunction,
    Disjunction,
    Existence,
    Membership,
    Negation,
)
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import EvaluationFault
from orchestrator_domain.decision.region_wording import box_in_words
from orchestrator_domain.decision.rule_regions import RuleRegions
from orchestrator_domain.decision.space import Space, compared
from orchestrator_domain.decision.witness import with_value_at
from orchestrator_domain.decision.wording import in_words, path_in_words
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue, Kind, kind_of
from orchestrator_domain.identifiers import RuleKey

_STEPS_MAX = 200_000

type Answer = bool | EvaluationFault | None
"""None where the condition wasn't reached."""


@frozen(kw_only=True)
class ConditionTrace:
    """A condition with its answer; a leaf has the values that it read, by their paths in words."""

    text: str
    answer: Answer
    parts: tuple["ConditionTrace", ...] = ()
    values: Mapping[str, JsonValue | Absent]


@frozen(kw_only=True)
class RuleTrace:
    rule: RuleKey
    output: str
    condition: ConditionTrace


@frozen(kw_only=True)
class Alternative:
    """What would have to be different for another answer, with a context that shows it."""

    answer: Expected
    change: str
    witness: JsonObject


@frozen(kw_only=True)
class DecisionTrace:
    """What a decision answers, how each of its rules was answered, and the nearest way to each other output."""

    answer: Expected
    rules: tuple[RuleTrace, ...]
    alternatives: tuple[Alternative, ...]


def traced_condition(condition: Condition, context: EvaluationContext) -> ConditionTrace:
    """Answer a condition as the production evaluator does, keeping the answers of its parts."""
    answer = evaluate_condition(compile_condition(condition), context)
    return ConditionTrace(
        text=in_words(condition),
        answer=answer,
        parts=tuple(_parts(condition, context)),
        values={
            path_in_words(pointer): pointer.resolve(context)
            for pointer in (pointer for leaf in _itself(condition) for pointer, _ in compared(leaf))
        },
    )


def _itself(condition: Condition) -> tuple[Comparison | Membership | Existence, ...]:
    return (condition,) if isinstance(condition, Comparison | Membership | Existence) else ()


def _parts(condition: Condition, context: EvaluationContext) -> Iterator[ConditionTrace]:
    match condition:
        case Conjunction(operands=operands):
            yield from _until(operands, context, reaches_next=True)
        case Disjunction(operands=operands):
            yield from _until(operands, context, reaches_next=False)
        case Negation(operand=operand):
            yield traced_condition(operand, context)
        case Comparison() | Membership() | Existence():
            pass
        case _ as unreachable:
            assert_never(unreachable)


def _until(
    operands: tuple[Condition, ...], context: EvaluationContext, *, reaches_next: bool
) -> Iterator[ConditionTrace]:
    reached = True
    for operand in operands:
        if not reached:
            yield ConditionTrace(text=in_words(operand), answer=None, values={})
            continue
        traced = traced_condition(operand, context)
        yield traced
        reached = traced.answer is reaches_next


def traced_decision(decision: DecisionDefinition, context: EvaluationContext) -> DecisionTrace:
    """Decide as in production, and look for the least that another answer would need."""
    answer = expected_of(compile_decision(decision)(context))
    return DecisionTrace(
        answer=answer,
        rules=tuple(
            RuleTrace(rule=rule.id, output=rule.output, condition=traced_condition(rule.when, context))
            for rule in decision.rules
        ),
        alternatives=tuple(_alternatives(decision, context, answer)),
    )


def _alternatives(
    decision: DecisionDefinition, context: EvaluationContext, answer: Expected
) -> Iterator[Alternative]:
    nearest: dict[Expected, tuple[int, Alternative]] = {}
    space, budget = Space.of(decision), Budget(_STEPS_MAX)
    decide = compile_decision(decision)
    try:
        for box in _answering_boxes(decision, space, budget):
            budget.spend(len(box) + 1)
            missed = _missed(box, space, context)
            witness = _moved(missed, space, context)
            if witness is None:
                continue
            reached = expected_of(decide(witness))
            known = nearest.get(reached)
            if (
                reached != answer
                and isinstance(reached, ExpectedOutput)
                and (known is None or len(missed) < known[0])
            ):
                change = box_in_words(missed, space)
                nearest[reached] = (len(missed), Alternative(answer=reached, change=change, witness=witness))
    except AnalysisExhausted:
        pass  # what was found until now is true, there is only less of it
    yield from (alternative for _, alternative in nearest.values())


def _answering_boxes(decision: DecisionDefinition, space: Space, budget: Budget) -> Iterator[Box]:
    regions = RuleRegions.of(decision, space, budget)
    for number in range(len(regions.rules)):
        yield from regions.deciding(number)
    yield from regions.unmatched()


def _missed(box: Box, space: Space, context: EvaluationContext) -> Box:
    """Return the part of a box that the context doesn't lie in already."""
    return {
        number: cells
        for number, cells in box.items()
        if not cells >> _cell_of(space.pointers[number].resolve(context), space.cells[number]) & 1
    }


def _moved(missed: Box, space: Space, context: EvaluationContext) -> JsonObject | None:
    """Return the context with a value out of the box at each path that was missed."""
    moved: JsonObject | None = context
    for number in sorted(missed, key=lambda each: len(space.pointers[each].tokens)):
        pointer, value = space.pointers[number], space.cells[number].first(missed[number])
        moved = None if moved is None or not pointer.tokens else with_value_at(moved, pointer, value)
    return moved


def _cell_of(value: JsonValue | Absent, cells: Cells) -> int:
    numbers_end = 2 * len(cells.numbers) + 1
    others = numbers_end + len(cells.strings) + 1
    match kind_of(value):
        case Kind.NUMBER:
            place = bisect_left(cells.numbers, value)  # type: ignore[type-var]  # the kind says it is a number
            return 2 * place + (place < len(cells.numbers) and cells.numbers[place] == value)
        case Kind.STRING:
            return numbers_end + cells.strings.index(value) if value in cells.strings else others - 1
        case Kind.BOOLEAN:
            return others + (value is False)
        case Kind.NULL:
            return others + 2
        case Kind.ABSENT:
            return others + 3
        case Kind.ARRAY | Kind.OBJECT:
            return others + 4
