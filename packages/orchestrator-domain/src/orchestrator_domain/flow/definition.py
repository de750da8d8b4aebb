"""A flow definition as typed values (flow-language, members). Reading it from JSON is `document`'s work."""

from collections.abc import Mapping
from functools import cached_property

from attrs import define, field, frozen

from orchestrator_domain.decision.condition import Condition, Operand
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import (
    ActionKey,
    DecisionKey,
    EventKey,
    FlowKey,
    ResultKey,
    Role,
    StateKey,
    TransitionKey,
)


@frozen(kw_only=True)
class State:
    key: StateKey
    terminal: bool
    title: str | None = None


@frozen(kw_only=True)
class Event:
    key: EventKey
    input_schema: JsonValue
    title: str | None = None


@frozen(kw_only=True)
class Creation:
    """What `POST /requests` may carry; `allowed_roles` None means any authenticated actor."""

    input_schema: JsonValue
    allowed_roles: frozenset[Role] | None = None


@frozen(kw_only=True)
class RestrictedPath:
    """A part of the request's data (pointer relative to it) that only these roles are shown."""

    path: Pointer
    allowed_roles: frozenset[Role]


@frozen(kw_only=True)
class ActionDefinition:
    """One step of a transition. `configuration` holds the members that only its type's own schema knows."""

    id: ActionKey
    type: str
    integration_key: str | None = None
    profile: str | None = None
    contract_version: int | None = None
    inputs: Mapping[str, Operand] = field(factory=dict)
    result_key: ResultKey | None = None
    configuration: JsonObject = field(factory=dict)


@frozen(kw_only=True)
class Update:
    """Write `value` at `target` (relative to the request's data); `outputs` None means whatever was decided."""

    target: Pointer
    value: Operand
    outputs: frozenset[str] | None = None

    def applies_to(self, output: str | None) -> bool:
        return self.outputs is None or output in self.outputs


@frozen(kw_only=True)
class ByDecision:
    """Route by a decision's output; `destinations` covers every output."""

    decision: DecisionKey
    destinations: Mapping[str, StateKey]


@frozen(kw_only=True)
class Directly:
    """Route to one state, with a business outcome (the transition's id where none was written)."""

    to: StateKey
    outcome: str


type Route = ByDecision | Directly


@frozen(kw_only=True)
class Transition:
    id: TransitionKey
    from_state: StateKey
    event: EventKey
    allowed_roles: frozenset[Role]
    guard: Condition | None = None
    actions: tuple[ActionDefinition, ...] = ()
    route: Route
    updates: tuple[Update, ...] = ()


@frozen(kw_only=True)
class Task:
    """What a front end renders in `state` for `event`; its schema is enforced too."""

    state: StateKey
    event: EventKey
    ui: JsonObject
    input_schema: JsonValue | None = None


@define(kw_only=True, frozen=True, slots=False)
class FlowDefinition:
    """One version of a flow. Immutable; look things up by key with the methods below.

    `document` is the JSON that it was read from, kept whole so that checksums never depend on this class.
    """

    document: JsonObject
    flow_key: FlowKey
    version: int
    title: str | None = None
    description: str | None = None
    initial_state: StateKey
    states: tuple[State, ...]
    events: tuple[Event, ...]
    transitions: tuple[Transition, ...]
    decisions: tuple[DecisionDefinition, ...] = ()
    tasks: tuple[Task, ...] = ()
    creation: Creation | None = None
    data_schema: JsonValue | None = None
    schemas: Mapping[str, JsonValue] = field(factory=dict)
    restricted_data: tuple[RestrictedPath, ...] = ()

    @cached_property
    def _states(self) -> Mapping[StateKey, State]:
        return {state.key: state for state in self.states}

    @cached_property
    def _events(self) -> Mapping[EventKey, Event]:
        return {event.key: event for event in self.events}

    @cached_property
    def _decisions(self) -> Mapping[DecisionKey, DecisionDefinition]:
        return {decision.id: decision for decision in self.decisions}

    @cached_property
    def _transitions(self) -> Mapping[tuple[StateKey, EventKey], Transition]:
        return {(transition.from_state, transition.event): transition for transition in self.transitions}

    @cached_property
    def _transitions_by_id(self) -> Mapping[TransitionKey, Transition]:
        return {transition.id: transition for transition in self.transitions}

    def state(self, key: StateKey) -> State | None:
        return self._states.get(key)

    def event(self, key: EventKey) -> Event | None:
        return self._events.get(key)

    def decision(self, key: DecisionKey) -> DecisionDefinition | None:
        return self._decisions.get(key)

    def transition_for(self, state: StateKey, event: EventKey) -> Transition | None:
        return self._transitions.get((state, event))

    def transition(self, key: TransitionKey) -> Transition | None:
        return self._transitions_by_id.get(key)

    def transitions_from(self, state: StateKey) -> tuple[Transition, ...]:
        return tuple(transition for transition in self.transitions if transition.from_state == state)

    def tasks_for(self, state: StateKey, event: EventKey) -> tuple[Task, ...]:
        return tuple(task for task in self.tasks if task.state == state and task.event == event)
