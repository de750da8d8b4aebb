"""One decision over many rows."""

from collections.abc import Iterable, Iterator

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.generated import Values, generate_decision
from orchestrator_domain.decision.outcome import DecisionResult


def evaluate_many(
    definition: DecisionDefinition, contexts: Iterable[EvaluationContext]
) -> Iterator[DecisionResult]:
    """Yield the result of each context, in order, faults of the rules as results.

    Each is what the DecisionEvaluator answers for that context alone. Rows are taken one by one, so there may be any
    number of them. A context is one exact JSON object; only the paths that the decision reads need be in it.
    """
    return generate_decision(definition).over_contexts(contexts)


def evaluate_values(definition: DecisionDefinition, rows: Iterable[Values]) -> Iterator[DecisionResult]:
    """Yield the result of each row that holds nothing but the values at the paths that the decision reads.

    The paths are those of `paths_read(definition)`, in this order; ABSENT stands where nothing is. Columns are
    rows by `zip(*columns)`.
    """
    return generate_decision(definition).over_values(rows)
