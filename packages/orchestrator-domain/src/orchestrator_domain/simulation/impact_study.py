"""A past taken through a candidate version, request by request, with what is to be told of it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from attrs import define, field

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.flow.definition import ByDecision
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_domain.simulation.impact import (
    Candidate,
    Compared,
    PastNotReplayable,
    burden,
    compared_events,
)
from orchestrator_domain.simulation.impact_example import decision_context
from orchestrator_domain.simulation.impact_tally import ImpactTally
from orchestrator_domain.simulation.thresholds import Threshold, outcome_shares

type SharesAt = tuple[int | Decimal, Mapping[str, int]]
"""A value of the threshold, and how often each outcome comes with it."""


@define(kw_only=True)
class ImpactStudy:
    """Compare requests with what a candidate would have made of them.

    Events before `since` are passed over. With a `threshold` the contexts that its decision meets are kept.
    """

    candidate: Candidate
    threshold: Threshold | None = None
    since: datetime | None = None
    tally: ImpactTally = field(factory=ImpactTally, init=False)
    _contexts: list[EvaluationContext] = field(factory=list, init=False)

    def add(self, recorded: RecordedRuns, pinned: ReadyFlow) -> None:
        """Take one request, which is pinned to that version, through the candidate."""
        self.tally.add_request(recorded.request.id, burden(recorded, pinned, self.candidate.flow))
        try:
            for event in compared_events(recorded, pinned, self.candidate, since=self.since):
                self._add(event)
        except PastNotReplayable:
            self.tally.unreplayable += 1

    def shares(self, values: Sequence[int | Decimal]) -> Iterator[SharesAt]:
        """Yield the shares at each value, in ascending order, each value once; nothing without a threshold."""
        if self.threshold is not None:
            for value in sorted(set(values)):
                yield value, outcome_shares(self.threshold, value, self._contexts)

    def _add(self, event: Compared) -> None:
        self.tally.add(event)
        if self._is_decided_by_it(event):
            context = decision_context(event, self.candidate.flow.definition)
            if context is not None:
                self._contexts.append(context)

    def _is_decided_by_it(self, event: Compared) -> bool:
        definition = self.candidate.flow.definition
        transition = definition.transition_for(event.scenario.state, event.scenario.event)
        route = None if transition is None else transition.route
        return (
            self.threshold is not None
            and isinstance(route, ByDecision)
            and route.decision == self.threshold.decision
        )
