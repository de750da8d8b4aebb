"""What a candidate version would have changed, counted, with the first examples kept."""

from collections import Counter
from typing import Final

from attrs import define, field

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.simulation.impact import Compared, Ending

EXAMPLES_MAX: Final = 10

type Change = tuple[str, str, str]
"""A transition, what it came to, and what it would come to."""


@define(kw_only=True)
class ImpactTally:
    """Count compared events, changes by transition and by deciding rules, and requests that couldn't be carried."""

    requests: int = field(default=0, init=False)
    compared: int = field(default=0, init=False)
    different: int = field(default=0, init=False)
    untold: int = field(default=0, init=False)
    unreplayable: int = field(default=0, init=False)
    before: Counter[str] = field(factory=Counter, init=False)
    after: Counter[str] = field(factory=Counter, init=False)
    transitions: Counter[Change] = field(factory=Counter, init=False)
    rules: Counter[Change] = field(factory=Counter, init=False)
    examples: list[Compared] = field(factory=list, init=False)
    burdens: Counter[str] = field(factory=Counter, init=False)
    burdened: list[tuple[RequestId, str]] = field(factory=list, init=False)

    def add(self, event: Compared) -> None:
        """Count one event; one whose end can't be told for want of a result is counted as that alone."""
        if not event.is_told:
            self.untold += 1
            return
        self.compared += 1
        self.before[event.before.name] += 1
        self.after[event.after.name] += 1
        if event.before.decision is not None and event.before.rules != event.after.rules:
            self.rules[event.before.decision, _rules(event.before), _rules(event.after)] += 1
        if event.differs:
            self.different += 1
            self.transitions[event.transition, event.before.name, event.after.name] += 1
            if len(self.examples) < EXAMPLES_MAX:
                self.examples.append(event)

    def add_request(self, request_id: RequestId, burden: str | None) -> None:
        self.requests += 1
        if burden is not None:
            self.burdens[burden] += 1
            if len(self.burdened) < EXAMPLES_MAX:
                self.burdened.append((request_id, burden))

    def add_unreadable(self) -> None:
        """Count a request whose own version this release can't read."""
        self.requests += 1
        self.unreplayable += 1

    def as_json(self) -> JsonObject:
        return {
            "requests": self.requests,
            "eventsCompared": self.compared,
            "different": self.different,
            "untold": self.untold,
            "requestsNotReplayable": self.unreplayable,
            "outcomes": {
                name: {"before": self.before[name], "after": self.after[name]}
                for name in sorted({*self.before, *self.after})
            },
            "transitions": [
                {"transitionId": key, "before": before, "after": after, "count": count}
                for (key, before, after), count in sorted(self.transitions.items())
            ],
            "rules": [
                {"decision": key, "before": before, "after": after, "count": count}
                for (key, before, after), count in sorted(self.rules.items())
            ],
            "notCarried": dict(sorted(self.burdens.items())),
            "notCarriedExamples": [
                {"requestId": str(request_id), "reason": reason} for request_id, reason in self.burdened
            ],
        }


def _rules(ending: Ending) -> str:
    if ending.error is not None:
        return f"({ending.error})"
    return ", ".join(ending.rules) or "(default)"
