"""An accepted event goes all its way: claimed, called over HTTP, judged, and stored, for each kind of effect."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from tests.plugins.lending_catalogue import LOOKUP, catalogue_file, contract_of, deployed, lookup_integration
from tests.plugins.misbehaving_provider import (
    Behaviour,
    MisbehavingProvider,
    answering,
    misbehaving_provider,
    reset_after_reading,
    response,
)

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.execution.execution import Execution, Fence
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import ExecutionId, LeaseOwner, Sha256Hex
from orchestrator_domain.ports.execution_queue import Renewed
from orchestrator_domain.ports.unit_of_work import Transaction
from orchestrator_domain.testing.contracts.in_memory_harness import InMemoryHarness
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.examples import TYPE_KEY, admin_fact, pinned_contract, request_type
from orchestrator_domain.testing.in_memory.execution_queue import InMemoryExecutionQueue
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.recording_observer import RecordingObserver
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_execution import ExecutionRunner
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.handlers import HandlerRegistry
from orchestrator_worker.integration_catalogue import DeployedCatalogue
from orchestrator_worker.invoke_integration import InvokeIntegration
from orchestrator_worker.provider_client import ProviderClient
from orchestrator_worker.renewal import LeaseRenewal, LeaseRenewer
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings

PATIENCE_SECONDS = 10.0
FOUND = answering(response(200, b'{"found": true, "shelf": "4"}'))
NOT_FOUND = answering(response(200, b'{"found": false}'))
BUSY = answering(response(503, headers="Retry-After: 1\r\n"))
BROKEN = answering(response(200, b'{"found": "yes"}'))
REJECTED = answering(response(422))


class Watcher(RecordingObserver):
    """Let a test wait until a run has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = asyncio.Event()

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:
        super().execution_ended(execution_id=execution_id, status=status, error_code=error_code)
        self.ended.set()


class Office:
    """The store, the provider and a worker between them."""

    def __init__(self, provider: MisbehavingProvider, effect: Effect) -> None:
        memory = {"keyMemorySeconds": None} if effect is Effect.IDEMPOTENT_WRITE else {}
        entry = lookup_integration(effect=effect.value, **memory)
        self.provider = provider
        self.catalogue = deployed(catalogue_file(entry, base_url=provider.base_url))
        self.harness = InMemoryHarness()
        self.cases = StoredCases(harness=self.harness)
        self.watcher = Watcher()
        self.wakeup = InMemoryWakeup(ManualClock(), pause=lambda: asyncio.sleep(0.001))

    async def accepted(self) -> Execution:
        """Publish a flow against the deployed catalogue and accept its event on a new request."""
        draft = await self.cases.draft()
        pins = (pinned_contract(contract_of(self.catalogue, LOOKUP)),)
        flow = draft.published(checksum=Sha256Hex(sha256_hex(draft.document)), contracts=pins)

        async def story(transaction: Transaction) -> StoredFlow:
            fact = admin_fact("FLOW_ACTIVATED", flow_id=flow.id, type_key=TYPE_KEY)
            saved = await transaction.flows.save(flow, before=draft.revision, fact=fact)
            await transaction.request_types.add(request_type(saved), fact)
            return saved

        await self.harness.unit_of_work().run(story)
        return await self.cases.accepted()

    async def ended_once(self, execution: Execution) -> tuple[str, str | None]:
        """Wait for the end of one run and return how it left the execution."""
        try:
            await asyncio.wait_for(self.watcher.ended.wait(), PATIENCE_SECONDS)
        except TimeoutError:
            raise AssertionError(f"no run has ended: {self.watcher.observations}") from None
        self.watcher.ended.clear()
        seen = await self.cases.seen_execution(execution.id)
        return (seen.status.value, seen.error_code)

    async def ended_again(self, execution: Execution) -> tuple[str, str | None]:
        """Let the wait be over, and return how the next run left the execution."""
        await self.harness.make_due(execution.id)
        self.wakeup.hint()
        return await self.ended_once(execution)


@asynccontextmanager
async def office(effect: Effect, *behaviours: Behaviour) -> AsyncIterator[Office]:
    async with misbehaving_provider() as provider:
        provider.script(*behaviours)
        desk = Office(provider, effect)
        async with ProviderClient(values=DeploymentValues()) as client:
            registry = HandlerRegistry(
                [InvokeIntegration(route_for=desk.catalogue.route_for, client=client, now=now)],
                observer=desk.watcher,
            )
            worker = worker_of(desk, registry, desk.catalogue)
            running = asyncio.create_task(worker.run())
            try:
                yield desk
            finally:
                worker.stop()
                await asyncio.wait_for(running, PATIENCE_SECONDS)
                registry.close()


class RenewalsOnTheirLoop(LeaseRenewer):
    """Renew in the event loop of the store, for what is in memory belongs to one thread, and renewals have their own."""

    def __init__(self, queue: InMemoryExecutionQueue, loop: asyncio.AbstractEventLoop) -> None:
        self._queue = queue
        self._loop = loop

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        renewing = self._queue.renew(fences=fences, lease_seconds=lease_seconds)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(renewing, self._loop))


def now() -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC)


def worker_of(desk: Office, registry: HandlerRegistry, catalogue: DeployedCatalogue) -> Worker:
    queue, identifiers = desk.harness.queue(), desk.cases.identifiers
    settings = WorkerSettings(owner=LeaseOwner("host:1:a"))

    renewals = RenewalsOnTheirLoop(queue, asyncio.get_running_loop())

    @asynccontextmanager
    async def renewer() -> AsyncIterator[LeaseRenewer]:
        yield renewals

    return Worker(
        settings=settings,
        queue=queue,
        runner=ExecutionRunner(
            queue=queue,
            flows=FlowLibrary(),
            published_flows=desk.harness.published_flows(),
            catalogue=catalogue,
            attempt=registry.attempt,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=identifiers,
            observer=desk.watcher,
            limits=FlowLimits(),
        ),
        renewal=LeaseRenewal(
            open_renewer=renewer,
            lease_seconds=settings.lease_seconds,
            renew_seconds=settings.renew_seconds,
            observer=desk.watcher,
            fraction=identifiers.fraction,
        ),
        wakeup=desk.wakeup,
        observer=desk.watcher,
        fraction=identifiers.fraction,
    )


@pytest.mark.parametrize("effect", list(Effect))
async def test_a_good_answer_moves_the_request_whatever_the_effect(effect: Effect) -> None:
    async with office(effect, FOUND) as desk:
        execution = await desk.accepted()
        desk.wakeup.hint()
        assert await desk.ended_once(execution) == ("SUCCEEDED", None)
        seen = await desk.cases.seen(execution.request_id)
        assert (seen.request.state, seen.request.data["lookup"]) == ("LENT", {"found": True, "shelf": "4"})


async def test_a_business_answer_that_keeps_the_state_is_a_success() -> None:
    async with office(Effect.READ_ONLY, NOT_FOUND) as desk:
        execution = await desk.accepted()
        desk.wakeup.hint()
        assert await desk.ended_once(execution) == ("SUCCEEDED", None)
        assert (await desk.cases.seen(execution.request_id)).request.state == "OPEN"


@pytest.mark.parametrize("effect", [Effect.READ_ONLY, Effect.IDEMPOTENT_WRITE])
@pytest.mark.parametrize("first", [BUSY, reset_after_reading])
async def test_another_attempt_carries_the_same_key_and_a_higher_token(
    effect: Effect, first: Behaviour
) -> None:
    async with office(effect, first, FOUND) as desk:
        execution = await desk.accepted()
        desk.wakeup.hint()
        status, _ = await desk.ended_once(execution)
        assert status == "RETRY_WAIT"
        assert await desk.ended_again(execution) == ("SUCCEEDED", None)
        sent = [request.headers for request in desk.provider.requests]
        assert {headers["idempotency-key"] for headers in sent} == {f"{execution.id}:lookup"}
        tokens = [int(headers["x-fencing-token"]) for headers in sent]
        assert tokens == sorted(set(tokens))


@pytest.mark.parametrize(
    ("effect", "behaviour", "ending"),
    [
        (Effect.READ_ONLY, BROKEN, ("FAILED", "CONTRACT_VIOLATION")),
        (Effect.READ_ONLY, REJECTED, ("FAILED", "PROVIDER_REJECTED")),
        (Effect.IDEMPOTENT_WRITE, BROKEN, ("RECONCILIATION_REQUIRED", "CONTRACT_VIOLATION")),
        (Effect.IDEMPOTENT_WRITE, REJECTED, ("FAILED", "PROVIDER_REJECTED")),
        (Effect.NON_IDEMPOTENT_WRITE, BROKEN, ("RECONCILIATION_REQUIRED", "CONTRACT_VIOLATION")),
        (Effect.NON_IDEMPOTENT_WRITE, REJECTED, ("FAILED", "PROVIDER_REJECTED")),
        (Effect.NON_IDEMPOTENT_WRITE, BUSY, ("RECONCILIATION_REQUIRED", "PROVIDER_UNAVAILABLE")),
        (
            Effect.NON_IDEMPOTENT_WRITE,
            reset_after_reading,
            ("RECONCILIATION_REQUIRED", "PROVIDER_TIMEOUT"),
        ),
    ],
)
async def test_an_attempt_that_is_not_repeated_ends_by_what_may_have_happened(
    effect: Effect, behaviour: Behaviour, ending: tuple[str, str]
) -> None:
    async with office(effect, behaviour) as desk:
        execution = await desk.accepted()
        desk.wakeup.hint()
        assert await desk.ended_once(execution) == ending
        assert len(desk.provider.requests) == 1
        assert (await desk.cases.seen(execution.request_id)).request.state == "OPEN"
