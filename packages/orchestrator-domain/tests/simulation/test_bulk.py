"""One decision over many rows answers as the evaluator does row by row."""

from hypothesis import given
from hypothesis import strategies as st

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.decision.generated import paths_read
from orchestrator_domain.simulation.bulk import evaluate_many, evaluate_values
from orchestrator_domain.testing.decision_strategies import decision_contexts, decisions


@given(decisions(), st.lists(decision_contexts(), max_size=5))
def test_many_rows_are_decided_as_each_row_alone(
    definition: DecisionDefinition, contexts: list[EvaluationContext]
) -> None:
    evaluator = CompiledDecisionEvaluator()
    alone = [evaluator.evaluate(definition, context) for context in contexts]
    rows = ([path.resolve(context) for path in paths_read(definition)] for context in contexts)

    assert list(evaluate_many(definition, contexts)) == alone
    assert list(evaluate_values(definition, rows)) == alone


@given(decisions())
def test_an_iterable_without_rows_has_no_results(definition: DecisionDefinition) -> None:
    assert list(evaluate_many(definition, iter(()))) == []
