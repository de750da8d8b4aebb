"""Let another rule engine decide: whatever answers `evaluate` with the domain's results takes the port.

The table below stands for such an engine. A real one keeps the port's promises too: it is asked purely, and what it
can't evaluate is a DecisionFailed, never an exception.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator_domain import (
    Actor,
    DecisionFailed,
    DecisionMade,
    FlowLimits,
    ReadyFlow,
    Scenario,
    Transitioned,
    parse_json,
    read_flow,
    simulated,
)
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import EvaluationFault, FaultKind
from orchestrator_domain.identifiers import EventKey, Role, RuleKey, StateKey, Subject

type Engine = dict[str, list[tuple[str, Callable[[Any], bool], str]]]

# By decision: rows of (rule id, condition, output), of which the first that matches decides.
WARDS: Engine = {
    "WARD": [
        ("very-fast", lambda facts: facts["event"]["data"]["pulse"] > 140, "URGENT"),
        ("very-slow", lambda facts: facts["event"]["data"]["pulse"] < 40, "URGENT"),
    ]
}


class TableEvaluator:
    """Implement the DecisionEvaluator port over rows of an engine; the flow's own rules are not asked."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def evaluate(
        self, definition: DecisionDefinition, context: EvaluationContext
    ) -> DecisionMade | DecisionFailed:
        for rule, matches, output in self._engine[definition.id]:
            try:
                matched = matches(context)
            except (KeyError, TypeError):
                fault = EvaluationFault(fault=FaultKind.ABSENT, pointer=None)
                return DecisionFailed(decision=definition.id, rule=RuleKey(rule), fault=fault)
            if matched:
                return self._made(definition, output, RuleKey(rule))
        return self._made(definition, definition.default_output)

    def _made(self, definition: DecisionDefinition, output: str, *rules: RuleKey) -> DecisionMade:
        return DecisionMade(
            decision=definition.id,
            hit_policy=definition.hit_policy,
            output=output,
            matched_rules=rules,
            by_default=not rules,
        )


def main() -> None:
    """Print where arrivals with four pulses would go, and by which row."""
    document = parse_json((Path(__file__).parent / "wards.json").read_bytes())
    flow = ReadyFlow(definition=read_flow(document))
    evaluator = TableEvaluator(WARDS)
    for pulse in (35, 90, 130, 150):
        scenario = Scenario(
            state=StateKey("ARRIVED"),
            data={},
            event=EventKey("ASSESS"),
            event_data={"pulse": pulse},
            actor=Actor(subject=Subject("nurse-1"), roles=frozenset({Role("NURSE")})),
            results={},
        )
        found = simulated(flow, scenario, contracts={}, evaluate=evaluator.evaluate, limits=FlowLimits())
        assert isinstance(found, Transitioned)
        decision = found.trace["decision"]
        assert isinstance(decision, dict)
        print(pulse, found.state, decision["ruleIds"])


if __name__ == "__main__":
    main()
