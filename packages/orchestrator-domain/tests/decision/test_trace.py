"""Traces say what the production evaluator does, and alternatives are true."""

from typing import Any

from hypothesis import given, settings

from orchestrator_domain.decision.boundary_cases import expected_of
from orchestrator_domain.decision.compiled import compile_condition, compile_decision, evaluate_condition
from orchestrator_domain.decision.condition import Condition, Conjunction, Disjunction
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import EvaluationFault
from orchestrator_domain.decision.trace import ConditionTrace, traced_condition, traced_decision
from orchestrator_domain.testing.decision_strategies import conditions, decision_contexts, decisions


@settings(max_examples=80)
@given(conditions(), decision_contexts())
def test_a_traced_condition_answers_as_in_production(condition: Condition, context: Any) -> None:
    traced = traced_condition(condition, context)

    assert traced.answer == evaluate_condition(compile_condition(condition), context)
    if isinstance(condition, Conjunction | Disjunction):
        assert traced.answer == joined(traced, stops_at=isinstance(condition, Disjunction))


def joined(traced: ConditionTrace, *, stops_at: bool) -> bool | EvaluationFault:
    """Answer a connective from the answers of its parts, none of which may have been reached in vain."""
    for number, part in enumerate(traced.parts):
        assert part.answer is not None
        if part.answer is not (not stops_at):
            assert all(later.answer is None for later in traced.parts[number + 1 :])
            return part.answer
    return not stops_at


@settings(max_examples=80)
@given(decisions(), decision_contexts())
def test_each_alternative_leads_to_its_answer(decision: DecisionDefinition, context: Any) -> None:
    decide = compile_decision(decision)
    traced = traced_decision(decision, context)

    assert traced.answer == expected_of(decide(context))
    for alternative in traced.alternatives:
        assert expected_of(decide(alternative.witness)) == alternative.answer != traced.answer
