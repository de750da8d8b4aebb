"""What a decision answers, with the trace that the audit keeps."""

from enum import StrEnum

from attrs import frozen

from orchestrator_domain.decision.definition import HitPolicy
from orchestrator_domain.exact_json.value import Kind
from orchestrator_domain.identifiers import DecisionKey, RuleKey


@frozen(kw_only=True)
class DecisionMade:
    """One output, and the rules that matched (none when the default output was taken)."""

    decision: DecisionKey
    hit_policy: HitPolicy
    output: str
    matched_rules: tuple[RuleKey, ...]
    by_default: bool


@frozen(kw_only=True)
class DecisionAmbiguous:
    """More than one rule of a `UNIQUE` decision matched, even if their outputs agree (AMBIGUOUS_DECISION)."""

    decision: DecisionKey
    matched_rules: tuple[RuleKey, ...]


class FaultKind(StrEnum):
    """Say why a condition can't be answered."""

    ABSENT = "ABSENT"
    INCOMPATIBLE = "INCOMPATIBLE"
    NOT_A_SCALAR = "NOT_A_SCALAR"
    NOT_A_NUMBER = "NOT_A_NUMBER"
    NOT_A_LIST = "NOT_A_LIST"
    NOT_HOMOGENEOUS = "NOT_HOMOGENEOUS"


@frozen(kw_only=True)
class EvaluationFault:
    """A path or pair of kinds that doesn't fit; holds places and kinds, never values.

    `pointer` is where the value was looked for in the context (None if both operands are literals), `kinds` the
    kinds that were met, left before right.
    """

    fault: FaultKind
    pointer: str | None
    kinds: tuple[Kind, ...] = ()


@frozen(kw_only=True)
class DecisionFailed:
    """A rule could not be evaluated (EVALUATION_ERROR)."""

    decision: DecisionKey
    rule: RuleKey
    fault: EvaluationFault


type DecisionResult = DecisionMade | DecisionAmbiguous | DecisionFailed
