"""A study's findings as one JSON document, the same for the command and for the API."""

from collections.abc import Sequence

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.simulation.impact_example import Disclosure, example_document
from orchestrator_domain.simulation.impact_study import ImpactStudy, SharesAt


def impact_document(study: ImpactStudy, shares: Sequence[SharesAt], *, disclosure: Disclosure) -> JsonObject:
    """Return counts, changes, examples and shares; `threshold` is empty unless a literal was to be moved.

    What isn't to be told of rules is null, shares over a literal among it: where they turn, there the value lies.
    """
    tells_rules = disclosure >= Disclosure.RULES
    flow = study.candidate.flow.definition
    counted = study.tally.as_json()
    return {
        **counted,
        "rules": counted["rules"] if tells_rules else None,
        "examples": [example_document(each, flow, disclosure=disclosure) for each in study.tally.examples],
        "threshold": [{"value": value, "outcomes": dict(counts)} for value, counts in shares]
        if tells_rules
        else None,
    }
