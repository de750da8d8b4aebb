"""Decisions evaluated by functions that are made once for each definition."""

from attrs import define, field

from orchestrator_domain.decision.compiled import CompiledDecision, compile_decision
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.generated import generate_single
from orchestrator_domain.decision.outcome import DecisionResult


@define(kw_only=True)
class CompiledDecisionEvaluator:
    """Implement the DecisionEvaluator port.

    A definition is decided by closures at first and, when it was used `generated_after` times, by a generated function,
    which is about twice as fast and takes a hundred times as long to be made; decisions of more than
    `generated_rules_max` rules keep their closures, for making theirs would hold up everything else.

    What was made is kept by the identity of its definition, which is held too so that an identity can't be used again;
    beyond `kept_max` the oldest one is dropped.
    """

    kept_max: int = 1024
    generated_after: int = 200
    generated_rules_max: int = 20
    _definitions: dict[int, DecisionDefinition] = field(factory=dict, init=False)
    _decisions: dict[int, CompiledDecision] = field(factory=dict, init=False)

    def evaluate(self, definition: DecisionDefinition, context: EvaluationContext) -> DecisionResult:
        """Decide; the same definition and context give the same result."""
        decide = self._decisions.get(id(definition))
        return self._kept(definition)(context) if decide is None else decide(context)

    def _kept(self, definition: DecisionDefinition) -> CompiledDecision:
        if len(self._definitions) >= self.kept_max:
            oldest = next(iter(self._definitions))
            del self._definitions[oldest], self._decisions[oldest]
        self._definitions[id(definition)] = definition
        self._decisions[id(definition)] = decide = self._at_first(definition)
        return decide

    def _at_first(self, definition: DecisionDefinition) -> CompiledDecision:
        by_closures = compile_decision(definition)
        if len(definition.rules) > self.generated_rules_max:
            return by_closures
        uses_left = self.generated_after

        def decide(context: EvaluationContext) -> DecisionResult:
            nonlocal uses_left
            uses_left -= 1
            if uses_left == 0 and id(definition) in self._decisions:
                self._decisions[id(definition)] = generate_single(definition)
            return by_closures(context)

        return decide
