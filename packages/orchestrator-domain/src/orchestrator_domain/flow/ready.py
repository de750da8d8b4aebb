"""A published flow made ready to run: its definition, pinned contracts, and everything compiled once."""

from collections.abc import Mapping

from attrs import define, field

from orchestrator_domain.decision.compiled import CompiledCondition, compile_condition
from orchestrator_domain.exact_json.schema import CompiledSchema, SchemaViolation, compile_schema
from orchestrator_domain.exact_json.value import ABSENT, JsonObject, JsonValue
from orchestrator_domain.flow.definition import FlowDefinition, Transition
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.lifecycle import PinnedContract, StoredFlow
from orchestrator_domain.identifiers import ActionKey, EventKey, StateKey, TransitionKey


@define(kw_only=True)
class ReadyFlow:
    """Answer what acceptance and completion ask of one flow version. Immutable in what it answers; keep it cached."""

    definition: FlowDefinition
    contracts: Mapping[tuple[TransitionKey, ActionKey], PinnedContract] = field(factory=dict)
    _guards: dict[TransitionKey, CompiledCondition] = field(factory=dict, init=False)
    _schemas: dict[tuple[str, ...], CompiledSchema] = field(factory=dict, init=False)

    def guard(self, transition: Transition) -> CompiledCondition | None:
        """Return the transition's guard, compiled at its first use."""
        if transition.guard is None:
            return None
        if transition.id not in self._guards:
            self._guards[transition.id] = compile_condition(transition.guard)
        return self._guards[transition.id]

    def creation_violations(self, data: JsonObject) -> tuple[SchemaViolation, ...]:
        """Check initial data by the creation schema; without one, only paths that no update writes are allowed."""
        creation = self.definition.creation
        if creation is not None:
            return self._schema(("creation",), creation.input_schema).violations(data)
        return self._written_by_updates(data)

    def data_violations(self, data: JsonObject) -> tuple[SchemaViolation, ...]:
        schema = self.definition.data_schema
        if schema is None:
            return ()
        return self._schema(("data",), schema).violations(data)

    def event_violations(
        self, state: StateKey, event: EventKey, data: JsonObject
    ) -> tuple[SchemaViolation, ...]:
        """Check event data by the event's schema and by those of the state's tasks."""
        found = list(self._event_schema(event).violations(data))
        for number, task in enumerate(self.definition.tasks_for(state, event)):
            if task.input_schema is not None:
                found += self._schema(("task", state, event, str(number)), task.input_schema).violations(data)
        return tuple(dict.fromkeys(found))

    def _event_schema(self, key: EventKey) -> CompiledSchema:
        event = self.definition.event(key)
        assert event is not None, "a transition's event is declared, which reading the flow has checked"
        return self._schema(("event", key), event.input_schema)

    def _schema(self, key: tuple[str, ...], schema: JsonValue) -> CompiledSchema:
        if key not in self._schemas:
            self._schemas[key] = compile_schema(schema, shared=self.definition.schemas)
        return self._schemas[key]

    def _written_by_updates(self, data: JsonObject) -> tuple[SchemaViolation, ...]:
        targets = dict.fromkeys(
            update.target for transition in self.definition.transitions for update in transition.updates
        )
        return tuple(
            SchemaViolation(
                pointer=str(target),
                keyword="creation",
                message="Initial data can't hold what the flow itself writes; leave it out.",
            )
            for target in targets
            if target.resolve(data) is not ABSENT
        )


def ready_flow(stored: StoredFlow) -> ReadyFlow:
    """Read and compile a stored version; raise FlowInvalid if this release can't read it any more."""
    return ReadyFlow(
        definition=read_flow(stored.document),
        contracts={(pin.transition, pin.action): pin for pin in stored.contracts},
    )
