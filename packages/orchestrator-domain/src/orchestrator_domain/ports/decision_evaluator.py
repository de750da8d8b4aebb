"""The port that another rule engine (Drools, DMN) would take."""

from typing import Protocol

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import DecisionResult


class DecisionEvaluator(Protocol):
    """Evaluate a decision, purely.

    Promises: same definition and context, same result; nothing is called, stored or changed; a fault of the rules is
    a DecisionFailed or DecisionAmbiguous, never an exception.
    """

    def evaluate(self, definition: DecisionDefinition, context: EvaluationContext) -> DecisionResult: ...
