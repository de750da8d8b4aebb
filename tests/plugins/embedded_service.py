"""The use cases over the in-memory store, as a host embeds them; time passes when a test says so."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from attrs import define, evolve, field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditEntry
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import ActionResult
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.flow.contract import Effect, ProbeContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    EventKey,
    IdempotencyKey,
    LeaseOwner,
    RequestId,
    RequestTypeKey,
    Role,
    Subject,
)
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.execution_queue import ClaimedExecution, ExecutionQueue
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.acceptance import AcceptEventCommand, AnyRevision
from orchestrator_domain.request.creation import CreateRequestCommand
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.chain import (
    CHAIN_ACTIONS,
    ChainCatalogue,
    chain_contracts,
    chain_document,
    chain_result,
)
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.examples import CLERK
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.testing.scripted_handlers import ScriptedHandler
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.activate_flow import ActivateFlow, MustNotExist
from orchestrator_domain.usecases.author_flow import AuthorFlow
from orchestrator_domain.usecases.create_request import CreateRequest
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.read_request import ReadRequest
from orchestrator_domain.usecases.run_execution import ExecutionRunner, Hold, never_held
from orchestrator_domain.usecases.run_probe import Probe, no_probe
from orchestrator_domain.usecases.run_progress import RunEnded

AUTHOR = Actor(
    subject=Subject("author-1"),
    roles=frozenset({Role("FLOW_EDITOR"), Role("FLOW_PUBLISHER"), Role("FLOW_ADMIN")}),
)
CHAIN_TYPE_KEY = RequestTypeKey("CHAIN")
LEASE_SECONDS = 60.0

type Attempt = Callable[[ActionDefinition, ActionContext], Awaitable[ActionResult]]


class CountedHints:
    """A wakeup that counts its hints."""

    def __init__(self) -> None:
        self.hints = 0

    def hint(self) -> None:
        self.hints += 1

    async def wait(self, *, timeout_seconds: float) -> None:
        """Return at once: whoever waits here polls."""


@frozen
class PausingUnitOfWork(UnitOfWork):
    """Let every other story run between a story's last word and its commit, so that those at once do meet."""

    stores: UnitOfWork

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        async def paused(work: Transaction) -> Result:
            result = await story(work)
            await asyncio.sleep(0)
            return result

        return await self.stores.run(paused)


def _read_only() -> ChainCatalogue:
    return ChainCatalogue(chain_contracts(dict.fromkeys(CHAIN_ACTIONS, Effect.READ_ONLY)))


@define(kw_only=True)
class EmbeddedService:
    """One store, everything around it, and shorthands for what most tests begin with."""

    catalogue: ChainCatalogue = field(factory=_read_only)
    harness: InMemoryHarness = field(factory=InMemoryHarness)
    identifiers: SequentialIdentifiers = field(factory=SequentialIdentifiers)
    observer: RecordingObserver = field(factory=RecordingObserver)
    handler: ScriptedHandler = field(factory=ScriptedHandler)
    wakeup: CountedHints = field(factory=CountedHints)
    flows: FlowLibrary = field(factory=FlowLibrary)
    limits: FlowLimits = field(factory=FlowLimits)

    def script(self, **answers: ActionResult) -> None:
        """Let each action succeed, but those named answer otherwise."""
        for action in CHAIN_ACTIONS:
            self.handler.script(action, answers.get(action, chain_result(action)))

    async def due(self) -> Sequence[ClaimedExecution]:
        """Claim whatever is due."""
        return await self.harness.queue().claim(
            owner=LeaseOwner("worker-9"), limit=10, lease_seconds=LEASE_SECONDS
        )

    @property
    def unit_of_work(self) -> UnitOfWork:
        return PausingUnitOfWork(self.harness.unit_of_work())

    @property
    def author(self) -> AuthorFlow:
        return AuthorFlow(
            unit_of_work=self.unit_of_work,
            validator=FlowSoundness(resolve_contract=self.catalogue.current, limits=self.limits),
            catalogue=self.catalogue,
            identifiers=self.identifiers,
        )

    @property
    def activation(self) -> ActivateFlow:
        return ActivateFlow(unit_of_work=self.unit_of_work)

    @property
    def create(self) -> CreateRequest:
        return CreateRequest(
            unit_of_work=self.unit_of_work,
            flows=self.flows,
            identifiers=self.identifiers,
            limits=self.limits,
        )

    @property
    def accept(self) -> AcceptEvent:
        return AcceptEvent(
            unit_of_work=self.unit_of_work,
            flows=self.flows,
            identifiers=self.identifiers,
            wakeup=self.wakeup,
            observer=self.observer,
        )

    @property
    def read(self) -> ReadRequest:
        return ReadRequest(unit_of_work=self.unit_of_work, flows=self.flows)

    def runner(
        self,
        *,
        queue: ExecutionQueue | None = None,
        attempt: Attempt | None = None,
        held: Hold = never_held,
        probe: Probe = no_probe,
    ) -> ExecutionRunner:
        return ExecutionRunner(
            queue=queue or self.harness.queue(),
            flows=self.flows,
            published_flows=self.harness.published_flows(),
            catalogue=self.catalogue,
            attempt=attempt or self.handler.execute,
            held=held,
            probe=probe,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=self.identifiers,
            observer=self.observer,
            limits=self.limits,
        )

    async def published(self, document: JsonObject | None = None) -> StoredFlow:
        draft = await self.author.create_draft(document or chain_document(), AUTHOR)
        return await self.author.publish(draft.id, AUTHOR)

    async def activated(self, document: JsonObject | None = None) -> StoredFlow:
        """Publish a flow and make it the active one of a new type."""
        flow = await self.published(document)
        await self.activation.activate(CHAIN_TYPE_KEY, flow.id, precondition=MustNotExist(), actor=AUTHOR)
        return flow

    async def created(self, *, key: str = "create-1") -> Request:
        return (await self.create(creation(key=key), CLERK)).request.request

    async def accepted(self) -> Execution:
        """Publish, activate and create, and accept GO on the new request."""
        await self.activated()
        request = await self.created()
        return (await self.accept(go(request.id), CLERK)).execution

    async def claimed(self, owner: str = "worker-1") -> ClaimedExecution:
        """Claim the only execution that is due."""
        found = await self.harness.queue().claim(
            owner=LeaseOwner(owner), limit=10, lease_seconds=LEASE_SECONDS
        )
        assert len(found) == 1, "exactly one execution is due"
        return found[0]

    async def run(self) -> RunEnded:
        """Claim and run the only execution that is due."""
        return await self.runner().run(await self.claimed())

    async def seen(self, request_id: RequestId) -> Request:
        return (await self.read.request(request_id, CLERK)).request

    async def execution(self, execution: Execution) -> Execution:
        return await self.read.execution(execution.id, CLERK)

    async def history(self, execution: Execution) -> list[AuditEntry]:
        return list(await self.harness.history(execution.request_id))

    async def checkpoints(self, execution: Execution) -> Mapping[ActionKey, Checkpoint]:
        found = await self.harness.checkpoints(execution.id)
        return {
            one.action: evolve(one, first_attempt_age_seconds=0.0, ended_age_seconds=0.0) for one in found
        }


def probed_service(
    *effects: Effect, probe: ProbeContract | None = None, handler: ScriptedHandler | None = None
) -> EmbeddedService:
    """Return such a service whose provider can be asked about the effects of every action that writes."""
    service = service_with(*effects, handler=handler)
    service.catalogue = ChainCatalogue(
        {
            action: contract
            if contract.effect is Effect.READ_ONLY
            else evolve(contract, probe=probe or ProbeContract())
            for action, contract in service.catalogue.contracts.items()
        }
    )
    return service


def service_with(*effects: Effect, handler: ScriptedHandler | None = None) -> EmbeddedService:
    """Return a service whose chain has these effects, in order; the last one holds for the rest."""
    each = [*effects, *[effects[-1]] * (len(CHAIN_ACTIONS) - len(effects))]
    contracts = chain_contracts(dict(zip(CHAIN_ACTIONS, each, strict=True)))
    return EmbeddedService(catalogue=ChainCatalogue(contracts), handler=handler or ScriptedHandler())


def creation(
    *, key: str = "create-1", data: JsonObject | None = None, scope: BusinessScope | None = None
) -> CreateRequestCommand:
    return CreateRequestCommand(
        type_key=CHAIN_TYPE_KEY, data=data or {"item": "ladder"}, scope=scope, key=IdempotencyKey(key)
    )


def go(request_id: RequestId, *, key: str = "go-1", data: JsonObject | None = None) -> AcceptEventCommand:
    return AcceptEventCommand(
        request_id=request_id,
        event=EventKey("GO"),
        data=data or {},
        key=IdempotencyKey(key),
        precondition=AnyRevision(),
    )
