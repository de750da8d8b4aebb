"""What came of many cases, counted."""

from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import define, field

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.simulation.case import Answered
from orchestrator_domain.simulation.scenario import Transitioned

DEFAULT = "(default)"
"""Stands for the default output among the rules of a decision."""

type Count = Counter[tuple[str, str]]


@define(kw_only=True)
class CaseTally:
    """Count cases, outcomes by transition, rules by decision (the default output among them), and errors by kind."""

    flow: FlowDefinition
    cases: int = field(default=0, init=False)
    expecting: int = field(default=0, init=False)
    mismatches: int = field(default=0, init=False)
    outcomes: Count = field(factory=Counter, init=False)
    rules: Count = field(factory=Counter, init=False)
    errors: Counter[str] = field(factory=Counter, init=False)

    def add(self, answers: Sequence[Answered]) -> None:
        """Count one case."""
        self.cases += 1
        self.expecting += any(each.sent.expected is not None for each in answers)
        self.mismatches += any(each.differences for each in answers)
        for answered in answers:
            if answered.error is not None:
                self.errors[answered.error] += 1
            if isinstance(answered.simulated, Transitioned):
                self.outcomes[answered.simulated.transition, answered.simulated.outcome] += 1
                self.rules.update(_rules_hit(answered.simulated))

    @property
    def never_hit(self) -> tuple[tuple[str, str], ...]:
        """Return each rule and default output that decided nothing, in the order of the flow."""
        known = (
            (decision.id, rule)
            for decision in self.flow.decisions
            for rule in (*(each.id for each in decision.rules), DEFAULT)
        )
        return tuple(place for place in known if place not in self.rules)

    def as_json(self) -> JsonObject:
        return {
            "cases": self.cases,
            "withExpectation": self.expecting,
            "mismatches": self.mismatches,
            "outcomes": [
                {"transitionId": transition, "outcome": outcome, "count": count}
                for (transition, outcome), count in sorted(self.outcomes.items())
            ],
            "rulesHit": [
                {"decision": decision, "rule": rule, "count": count}
                for (decision, rule), count in sorted(self.rules.items())
            ],
            "neverHit": [{"decision": decision, "rule": rule} for decision, rule in self.never_hit],
            "errors": dict(sorted(self.errors.items())),
        }


def _rules_hit(done: Transitioned) -> Iterator[tuple[str, str]]:
    decision = done.trace["decision"]
    if isinstance(decision, dict):
        rules = decision["ruleIds"]
        assert isinstance(rules, list), "a decision's trace lists its rules"
        for rule in rules or [DEFAULT]:
            yield str(decision["id"]), str(rule)
