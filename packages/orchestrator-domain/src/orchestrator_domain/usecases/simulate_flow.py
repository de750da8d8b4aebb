"""Try one event on a flow version, with results supplied by whoever tries it."""

from collections.abc import Mapping
from functools import partial

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import FlowInvalid, FlowUnreadable, NotFound
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition, FlowDefinition
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow, ready_flow
from orchestrator_domain.identifiers import ActionKey, EventKey, FlowId, StateKey, Subject, TransitionKey
from orchestrator_domain.ports.decision_evaluator import DecisionEvaluator
from orchestrator_domain.ports.flow_definition_validator import FlowDefinitionValidator
from orchestrator_domain.ports.heavy_work import RunHeavy, run_inline
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.simulation.no_op import with_no_op
from orchestrator_domain.simulation.scenario import Scenario, Simulated, simulated
from orchestrator_domain.usecases.permissions import FLOW_EDITOR, require_any


@frozen(kw_only=True)
class SimulateFlowCommand:
    """Suppose a request with `data`, in the initial state unless one is named, and an event of `actor`.

    Without an actor somebody is supposed who holds every role that the flow's transitions allow.
    """

    flow_id: FlowId
    data: JsonObject
    event: EventKey
    event_data: JsonObject
    results: Mapping[ActionKey, JsonObject]
    state: StateKey | None = None
    actor: Actor | None = None


@frozen(kw_only=True)
class FlowSimulated:
    """What would come of it, and the definition that says so."""

    definition: FlowDefinition
    scenario: Scenario
    simulated: Simulated


@frozen(kw_only=True)
class SimulateFlow:
    """Simulate, without calls and without changing anything; drafts too.

    `validator` knows NO_OP; `run_heavy` runs it and the simulation. Raises AccessDenied, NotFound, InvalidInput for a
    scenario that can't be, and FlowInvalid for a draft with errors, for what isn't sound has no meaning that could be
    tried; FlowUnreadable.
    """

    unit_of_work: UnitOfWork
    validator: FlowDefinitionValidator
    catalogue: IntegrationCatalogue
    evaluator: DecisionEvaluator
    limits: FlowLimits
    run_heavy: RunHeavy = run_inline

    async def __call__(self, command: SimulateFlowCommand, actor: Actor) -> FlowSimulated:
        require_any(actor, FLOW_EDITOR)

        async def story(work: Transaction) -> StoredFlow | None:
            return await work.flows.find(command.flow_id)

        stored = await self.unit_of_work.run(story)
        if stored is None:
            raise NotFound("There is no such flow.")
        return await self.run_heavy(partial(self._simulated, stored, command))

    def _simulated(self, stored: StoredFlow, command: SimulateFlowCommand) -> FlowSimulated:
        self._require_sound(stored)
        flow = _ready(stored)
        scenario = _scenario(command, flow.definition)
        outcome = simulated(
            flow,
            scenario,
            contracts=dict(self._contracts(stored, flow)),
            evaluate=self.evaluator.evaluate,
            limits=self.limits,
        )
        return FlowSimulated(definition=flow.definition, scenario=scenario, simulated=outcome)

    def _require_sound(self, stored: StoredFlow) -> None:
        if stored.status is not FlowStatus.DRAFT:
            return
        report = self.validator.validate(stored.document)
        if not report.publishable:
            raise FlowInvalid("Only a flow without errors can be simulated.", findings=report.findings)

    def _contracts(
        self, stored: StoredFlow, flow: ReadyFlow
    ) -> Mapping[tuple[TransitionKey, ActionKey], ActionContract]:
        draft = stored.status is FlowStatus.DRAFT
        found = {
            (transition.id, action.id): self._current(action)
            if draft
            else self._pinned(flow, transition.id, action.id)
            for transition in flow.definition.transitions
            for action in transition.actions
        }
        return {place: contract for place, contract in found.items() if contract is not None}

    def _current(self, action: ActionDefinition) -> ActionContract | None:
        contract = with_no_op(self.catalogue.current)(action)
        return contract if isinstance(contract, ActionContract) else None

    def _pinned(self, flow: ReadyFlow, transition: TransitionKey, action: ActionKey) -> ActionContract | None:
        pin = flow.contracts.get((transition, action))
        return None if pin is None else self.catalogue.pinned(pin)


def _ready(stored: StoredFlow) -> ReadyFlow:
    try:
        return ready_flow(stored)
    except FlowInvalid:
        raise FlowUnreadable("This release can't read this flow version.") from None


def _scenario(command: SimulateFlowCommand, definition: FlowDefinition) -> Scenario:
    return Scenario(
        state=command.state or definition.initial_state,
        data=command.data,
        event=command.event,
        event_data=command.event_data,
        actor=command.actor or _anybody_allowed(definition),
        results=command.results,
    )


def _anybody_allowed(definition: FlowDefinition) -> Actor:
    roles = [transition.allowed_roles for transition in definition.transitions]
    return Actor(subject=Subject("simulation"), roles=frozenset().union(*roles))
