"""Decisions evaluated by closures that are compiled once for each definition."""

from attrs import define, field

from orchestrator_domain.decision.compiled import CompiledDecision, compile_decision
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import DecisionResult


@define(kw_only=True)
class CompiledDecisionEvaluator:
    """Implement the DecisionEvaluator port.

    Compiled decisions are kept by the identity of their definition, which is held too so that an identity can't be
    used again; beyond `kept_max` the oldest one is dropped.
    """

    kept_max: int = 1024
    _kept: dict[int, tuple[DecisionDefinition, CompiledDecision]] = field(factory=dict, init=False)

    def evaluate(self, definition: DecisionDefinition, context: EvaluationContext) -> DecisionResult:
        """Decide; the same definition and context give the same result."""
        kept = self._kept.get(id(definition))
        if kept is None:
            kept = self._compiled(definition)
        return kept[1](context)

    def _compiled(self, definition: DecisionDefinition) -> tuple[DecisionDefinition, CompiledDecision]:
        if len(self._kept) >= self.kept_max:
            self._kept.pop(next(iter(self._kept)), None)
        made = (definition, compile_decision(definition))
        self._kept[id(definition)] = made
        return made
