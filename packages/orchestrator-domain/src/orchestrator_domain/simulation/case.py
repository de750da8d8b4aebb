"""A case: events sent one after the other to a supposed request, with what is expected of each."""

from collections.abc import Iterator, Mapping
from typing import assert_never

from attrs import field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.completion import Evaluate
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, EventKey, StateKey, Subject, TransitionKey
from orchestrator_domain.simulation.scenario import (
    NotAccepted,
    Scenario,
    Simulated,
    Stopped,
    Transitioned,
    simulated,
)


@frozen(kw_only=True)
class Expected:
    """What is expected after an event; what is None may be anything.

    `error` is the code of a refusal or of a run's fault. Without it the event has to end in a transition.
    """

    outcome: str | None = None
    state: StateKey | None = None
    data: JsonObject | None = None
    error: str | None = None


@frozen(kw_only=True)
class SentEvent:
    """One event of a case; without an actor somebody is supposed who holds every role that the flow allows."""

    event: EventKey
    data: JsonObject = field(factory=dict)
    results: Mapping[ActionKey, JsonObject] = field(factory=dict)
    actor: Actor | None = None
    expected: Expected | None = None


@frozen(kw_only=True)
class Case:
    """A request in `state` (None: the initial one) with `data`, and the events that are sent to it in turn."""

    id: str | None = None
    state: StateKey | None = None
    data: JsonObject = field(factory=dict)
    events: tuple[SentEvent, ...]


@frozen(kw_only=True)
class Answered:
    """What became of one event, in which scenario, and each way in which it isn't as expected."""

    sent: SentEvent
    scenario: Scenario
    simulated: Simulated
    differences: tuple[str, ...]

    @property
    def state(self) -> StateKey:
        """Return the state after the event, which a refusal and a fault leave as it was."""
        done = self.simulated
        return done.state if isinstance(done, Transitioned) else self.scenario.state

    @property
    def data(self) -> JsonObject:
        done = self.simulated
        return done.data if isinstance(done, Transitioned) else self.scenario.data

    @property
    def error(self) -> str | None:
        """Return the code of the refusal or of the run's fault, if there was one."""
        match self.simulated:
            case NotAccepted(refusal=refusal):
                return refusal.code
            case Stopped(fault=fault):
                return fault.code
            case Transitioned():
                return None
            case _ as unreachable:
                assert_never(unreachable)

    @property
    def outcome(self) -> str | None:
        done = self.simulated
        return done.outcome if isinstance(done, Transitioned) else None


@frozen(kw_only=True)
class CaseRunner:
    """Answer cases by one flow, which is sound; nothing is called."""

    flow: ReadyFlow
    contracts: Mapping[tuple[TransitionKey, ActionKey], ActionContract]
    evaluate: Evaluate
    limits: FlowLimits

    def answers(self, case: Case) -> tuple[Answered, ...]:
        """Return what becomes of each event in turn; raise InvalidInput for a case that supposes what can't be."""
        state, data = case.state or self.flow.definition.initial_state, case.data
        found: list[Answered] = []
        for number, sent in enumerate(case.events):
            try:
                answered = self._answered(state, data, sent)
            except InvalidInput as fault:
                pointer = f"/events/{number}{fault.pointer}" if fault.pointer == "/results" else fault.pointer
                raise InvalidInput(fault.message, pointer=pointer, violations=fault.violations) from None
            found.append(answered)
            state, data = answered.state, answered.data
        return tuple(found)

    def _answered(self, state: StateKey, data: JsonObject, sent: SentEvent) -> Answered:
        scenario = Scenario(
            state=state,
            data=data,
            event=sent.event,
            event_data=sent.data,
            actor=sent.actor or somebody_allowed(self.flow.definition),
            results=sent.results,
        )
        found = simulated(
            self.flow, scenario, contracts=self.contracts, evaluate=self.evaluate, limits=self.limits
        )
        answered = Answered(sent=sent, scenario=scenario, simulated=found, differences=())
        if sent.expected is None:
            return answered
        differences = tuple(_differences(sent.expected, answered))
        return Answered(sent=sent, scenario=scenario, simulated=found, differences=differences)


def somebody_allowed(definition: FlowDefinition) -> Actor:
    """Return an actor who holds every role that the flow's transitions allow."""
    roles = [transition.allowed_roles for transition in definition.transitions]
    return Actor(subject=Subject("simulation"), roles=frozenset().union(*roles))


def _differences(expected: Expected, answered: Answered) -> Iterator[str]:
    if expected.error != answered.error:
        yield f"error: expected {expected.error or 'none'}, got {answered.error or 'none'}"
    if expected.outcome is not None and expected.outcome != answered.outcome:
        yield f"outcome: expected {expected.outcome}, got {answered.outcome or 'none'}"
    if expected.state is not None and expected.state != answered.state:
        yield f"state: expected {expected.state}, got {answered.state}"
    if expected.data is not None and canonical_json(expected.data) != canonical_json(answered.data):
        yield "data: differs from what is expected"
