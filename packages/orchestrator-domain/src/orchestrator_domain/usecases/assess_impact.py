"""Tell what a flow version would have made of what really happened to the latest requests."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from typing import Final

from attrs import define, field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowInvalid, FlowUnreadable, InvalidInput, NotFound
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.flow.ready import ReadyFlow, ready_flow
from orchestrator_domain.identifiers import FlowId, RequestId
from orchestrator_domain.ports.decision_evaluator import DecisionEvaluator
from orchestrator_domain.ports.flow_definition_validator import FlowDefinitionValidator
from orchestrator_domain.ports.heavy_work import RunHeavy, run_inline
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.ports.recent_past import RecentPast, RecentRequest
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.recorded_runs import RecordedRuns
from orchestrator_domain.simulation.impact import Candidate
from orchestrator_domain.simulation.impact_example import Disclosure
from orchestrator_domain.simulation.impact_study import ImpactStudy, SharesAt
from orchestrator_domain.simulation.thresholds import Threshold, threshold_at
from orchestrator_domain.usecases.permissions import AUDITOR, FLOW_EDITOR, require_any

REQUESTS_MAX: Final = 1000
EVENTS_MAX: Final = 5000
REVISION_MAX: Final = 400
"""Requests that have changed more often are left out: reading one of them would have no bound.

No more changes than that are read at once either, for rows become values beside whatever else the host does.
"""
VALUES_MAX: Final = 50
PLACES_MAX: Final = 20
_AT_ONCE: Final = 10

# What of the time may go into replaying where a literal is to be moved over what was found.
_REPLAY_SHARE: Final = 0.6

type TimeSpent = Callable[[], float]
"""Return how much of the time that whoever asked waits is over, 1 being all; callable from any thread, and quick."""


class Bound(StrEnum):
    """What ended an assessment before it had seen every request that was asked for."""

    REQUESTS = "REQUESTS"
    EVENTS = "EVENTS"
    TIME = "TIME"


@frozen(kw_only=True)
class AssessImpactCommand:
    """Look at `requests_max` requests at most, and at events since a moment; move the literals at `places` together."""

    flow_id: FlowId
    requests_max: int = REQUESTS_MAX
    since: datetime | None = None
    places: tuple[Pointer, ...] = ()
    values: tuple[int | Decimal, ...] = ()


@frozen(kw_only=True)
class ImpactAssessed:
    """What was found, how much of it this actor may be told, and which bound was met (None: all was seen)."""

    study: ImpactStudy
    shares: Sequence[SharesAt]
    disclosure: Disclosure
    stopped_by: Bound | None


@frozen(kw_only=True)
class AssessImpact:
    """Replay the latest requests that the actor sees against a version of their flow, changing nothing.

    Values that rules read are told to an AUDITOR only, and neither values nor rules' answers where the flow restricts
    some of its data to roles that the actor hasn't. Values of a literal for which there is no time are left out, but
    for the first. `run_heavy` runs everything that computes, ten requests at a time;
    each call evaluates by an evaluator of its own. Raises AccessDenied, NotFound, FlowInvalid for a draft with errors,
    InvalidInput for places that are no numeric literals of one decision, FlowUnreadable.
    """

    unit_of_work: UnitOfWork
    validator: FlowDefinitionValidator
    recent_past: RecentPast
    published_flows: PublishedFlows
    new_evaluator: Callable[[], DecisionEvaluator]
    run_heavy: RunHeavy = run_inline
    events_max: int = EVENTS_MAX

    async def __call__(
        self, command: AssessImpactCommand, actor: Actor, *, time_spent: TimeSpent
    ) -> ImpactAssessed:
        assert 1 <= command.requests_max <= REQUESTS_MAX, "an assessment has a bound"
        assert len(command.values) <= VALUES_MAX, "so has what moves in it"
        require_any(actor, FLOW_EDITOR)

        async def story(work: Transaction) -> StoredFlow | None:
            return await work.flows.find(command.flow_id)

        stored = await self.unit_of_work.run(story)
        if stored is None:
            raise NotFound("There is no such flow.")
        assessment = await self.run_heavy(partial(self._begun, stored, command, actor, time_spent))
        more = await self._replay(assessment, stored, command, actor)
        return await self.run_heavy(partial(assessment.told, command, more=more))

    def _begun(
        self, stored: StoredFlow, command: AssessImpactCommand, actor: Actor, time_spent: TimeSpent
    ) -> "_Assessment":
        if stored.status is FlowStatus.DRAFT:
            report = self.validator.validate(stored.document)
            if not report.publishable:
                raise FlowInvalid("Only a flow without errors can be compared.", findings=report.findings)
        candidate = Candidate(flow=_ready(stored), evaluate=self.new_evaluator().evaluate)
        study = ImpactStudy(candidate=candidate, threshold=_threshold(stored, command), since=command.since)
        return _Assessment(
            study=study,
            actor=actor,
            time_spent=time_spent,
            replay_share=_REPLAY_SHARE if command.places else 1,
            events_max=self.events_max,
        )

    async def _replay(
        self, assessment: "_Assessment", stored: StoredFlow, command: AssessImpactCommand, actor: Actor
    ) -> bool:
        """Replay what is asked for until a bound is met; say whether there are more requests than that."""
        found = await self.recent_past.latest(
            stored.flow_key,
            actor,
            since=command.since,
            revision_max=REVISION_MAX,
            limit=command.requests_max + 1,
        )
        for request_ids in _some_at_once(found[: command.requests_max]):
            if assessment.stopped_by is not None:
                break
            runs = await self.recent_past.runs(request_ids, actor)
            flows = await self._stored_flows(runs, assessment)
            await self.run_heavy(partial(assessment.add, runs, flows))
        return len(found) > command.requests_max

    async def _stored_flows(
        self, runs: Sequence[RecordedRuns], assessment: "_Assessment"
    ) -> Sequence[StoredFlow]:
        missing = {each.request.flow.id for each in runs} - assessment.pinned.keys()
        found = [await self.published_flows.find(flow_id) for flow_id in sorted(missing)]
        return [flow for flow in found if flow is not None]


@define(kw_only=True)
class _Assessment:
    """One call's work, used by one thread at a time."""

    study: ImpactStudy
    actor: Actor
    time_spent: TimeSpent
    replay_share: float
    events_max: int
    pinned: dict[FlowId, ReadyFlow | None] = field(factory=dict, init=False)
    stopped_by: Bound | None = field(default=None, init=False)

    def add(self, runs: Sequence[RecordedRuns], flows: Sequence[StoredFlow]) -> None:
        for flow in flows:
            self.pinned[flow.id] = _ready_or_none(flow)
        for recorded in runs:
            self.stopped_by = self._bound()
            if self.stopped_by is not None:
                return
            pinned = self.pinned.get(recorded.request.flow.id)
            if pinned is None:
                self.study.tally.add_unreadable()
            else:
                self.study.add(recorded, pinned)

    def told(self, command: AssessImpactCommand, *, more: bool) -> ImpactAssessed:
        shares = self._shares(command)
        return ImpactAssessed(
            study=self.study,
            shares=shares,
            disclosure=self._disclosure(),
            stopped_by=self.stopped_by or (Bound.REQUESTS if more else None),
        )

    def _shares(self, command: AssessImpactCommand) -> list[SharesAt]:
        found: list[SharesAt] = []
        for share in self.study.shares(command.values):
            found.append(share)
            if self.time_spent() >= 1 and len(found) < len({*command.values}):
                self.stopped_by = Bound.TIME
                break
        return found

    def _bound(self) -> Bound | None:
        tally = self.study.tally
        if tally.compared + tally.untold >= self.events_max:
            return Bound.EVENTS
        return Bound.TIME if self.time_spent() >= self.replay_share else None

    def _disclosure(self) -> Disclosure:
        flows = [self.study.candidate.flow, *(flow for flow in self.pinned.values() if flow is not None)]
        if any(_hides_data(flow.definition, self.actor) for flow in flows):
            return Disclosure.OUTCOMES
        return Disclosure.VALUES if self.actor.holds_any(frozenset({AUDITOR})) else Disclosure.RULES


def _threshold(stored: StoredFlow, command: AssessImpactCommand) -> Threshold | None:
    if not command.places:
        return None
    try:
        return threshold_at(stored.document, command.places)
    except InvalidInput as fault:
        at = [str(place) for place in command.places].index(fault.pointer or "")
        raise InvalidInput(fault.message, pointer=f"/vary/places/{at}") from None


def _hides_data(definition: FlowDefinition, actor: Actor) -> bool:
    return any(not actor.holds_any(restricted.allowed_roles) for restricted in definition.restricted_data)


def _ready(stored: StoredFlow) -> ReadyFlow:
    try:
        return ready_flow(stored)
    except FlowInvalid:
        raise FlowUnreadable("This release can't read this flow version.") from None


def _ready_or_none(stored: StoredFlow) -> ReadyFlow | None:
    try:
        return ready_flow(stored)
    except FlowInvalid:
        return None


def _some_at_once(found: Sequence[RecentRequest]) -> Iterator[list[RequestId]]:
    some: list[RequestId] = []
    changes = 0
    for each in found:
        if len(some) == _AT_ONCE or changes + each.revision > REVISION_MAX:
            yield some
            some, changes = [], 0
        some.append(each.id)
        changes += each.revision
    if some:
        yield some
