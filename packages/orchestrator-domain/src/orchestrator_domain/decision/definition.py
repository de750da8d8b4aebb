"""A decision: rules in their written order, a hit policy, and the output of no match."""

from enum import StrEnum

from attrs import frozen

from orchestrator_domain.decision.condition import Condition
from orchestrator_domain.identifiers import DecisionKey, RuleKey


class HitPolicy(StrEnum):
    """Say how many rules may match: `UNIQUE` at most one of all, `FIRST` the first in written order."""

    UNIQUE = "UNIQUE"
    FIRST = "FIRST"


@frozen(kw_only=True)
class Rule:
    id: RuleKey
    when: Condition
    output: str


@frozen(kw_only=True)
class DecisionDefinition:
    id: DecisionKey
    hit_policy: HitPolicy = HitPolicy.UNIQUE
    rules: tuple[Rule, ...]
    default_output: str

    @property
    def outputs(self) -> frozenset[str]:
        """Return every output that this decision can have, the default one included."""
        return frozenset(rule.output for rule in self.rules) | {self.default_output}
