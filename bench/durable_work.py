"""Requests that wait for an event, clients that send it, and a worker that carries it out, all in this process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from time import perf_counter
from uuid import UUID

from attrs import define, field, frozen

from bench.durable_flow import CLERK, CONTRACT, store_flow, type_key
from bench.durable_server import BenchDatabase
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.execution.attempt import ActionResult, Succeeded
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import StoredFlow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import (
    EventKey,
    ExecutionId,
    IdempotencyKey,
    LeaseOwner,
    RequestId,
)
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
from orchestrator_domain.ports.observer import Observer
from orchestrator_domain.request.acceptance import AcceptEventCommand, AnyRevision
from orchestrator_domain.testing.fixed_catalogue import FixedCatalogue
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_execution import ExecutionRunner
from orchestrator_postgres.engine import ConnectionSettings, PostgresEngine
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.lease_renewal import LeaseRenewal as PostgresLeaseRenewal
from orchestrator_postgres.published_flows import PostgresPublishedFlows
from orchestrator_postgres.unit_of_work import PostgresUnitOfWork
from orchestrator_postgres.wakeup import PostgresWakeup
from orchestrator_service.system_identifiers import SystemIdentifiers
from orchestrator_worker.handlers import HandlerRegistry
from orchestrator_worker.renewal import LeaseRenewal
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings

_UNDONE = "SELECT count(*) FROM orchestrator.execution WHERE status NOT IN ('SUCCEEDED', 'FAILED')"
_FOUND = Succeeded(result={"found": True})


@define
class CountingObserver(Observer):
    """Count the ends, and tell when there have been as many as awaited."""

    ended: int = 0
    faults: list[str] = field(factory=list)
    _awaited: int = 0
    _reached: asyncio.Event = field(factory=asyncio.Event)

    async def ended_in_all(self, count: int) -> None:
        """Wait for the end of so many executions since the start; raise RuntimeError if any went wrong."""
        self._awaited = count
        self._reached.clear()
        if self.ended < count:
            await self._reached.wait()
        if self.faults:
            raise RuntimeError(f"the worker was disturbed: {self.faults[0]}")

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:  # noqa: ARG002  # counted, not told apart
        self.ended += 1
        if status != "SUCCEEDED":
            self._wrong(f"{status} {error_code}")
        if self.ended >= self._awaited:
            self._reached.set()

    def lease_lost(self, *, execution_id: ExecutionId) -> None:  # noqa: ARG002  # as above
        self._wrong("a lease was lost")

    def lease_renewal_failed(self, *, code: str, kind: str, origin: str) -> None:
        self._wrong(f"{kind} {code} at {origin}")

    def worker_disturbed(
        self,
        *,
        execution_id: ExecutionId | None,  # noqa: ARG002  # as above
        code: str,
        kind: str,
        origin: str,
    ) -> None:
        self._wrong(f"{kind} {code} at {origin}")

    def _wrong(self, fault: str) -> None:
        self.faults.append(fault)
        self._reached.set()


@frozen(kw_only=True)
class NoOp(ActionHandler):
    """Answer at once, or after `seconds` of waiting; `begun` is told that it was called."""

    seconds: float = 0.0
    begun: Callable[[ActionContext], None] | None = None

    @property
    def type(self) -> str:
        return CONTRACT.action_type

    async def execute(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:  # noqa: ARG002
        if self.begun is not None:
            self.begun(context)
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return _FOUND


@frozen(kw_only=True)
class DurableWork:
    """The ports over one database, and what a measurement does with them."""

    database: BenchDatabase
    settings: ConnectionSettings
    engine: PostgresEngine
    wakeup: PostgresWakeup
    observer: CountingObserver = field(factory=CountingObserver)
    identifiers: SystemIdentifiers = field(factory=SystemIdentifiers)
    flows: FlowLibrary = field(factory=FlowLibrary)

    @property
    def accept_event(self) -> AcceptEvent:
        return AcceptEvent(
            unit_of_work=PostgresUnitOfWork(self.engine),
            flows=self.flows,
            identifiers=self.identifiers,
            wakeup=self.wakeup,
            observer=self.observer,
        )

    async def requests(self, count: int, *, actions: int) -> Sequence[RequestId]:
        """Store so many requests in their first state."""
        flow = await self.flow_id(actions)
        ids = [RequestId(self.identifiers.uuid()) for _ in range(count)]
        async with self.engine.connection() as connection, connection.cursor() as cursor:
            copying = (
                b"COPY orchestrator.request_instance"
                b" (id, type_key, flow_id, current_state, data, owner_subject, business_scope) FROM STDIN"
            )
            async with cursor.copy(copying) as copy:
                for each in ids:
                    row = (each, type_key(actions), flow, "OPEN", '{"item": "ladder"}', "clerk", "NORTH")
                    await copy.write_row(row)
        return ids

    async def accepted(self, requests: Sequence[RequestId], *, clients: int = 10) -> None:
        """Send GO to each request, from so many clients at once."""
        left = iter(requests)
        accept = self.accept_event

        async def client() -> None:
            for request_id in left:
                await accept(go(request_id), CLERK)

        await asyncio.gather(*(client() for _ in range(clients)))

    @asynccontextmanager
    async def worker(
        self, *, slots: int, batch: int | None = None, handler: NoOp | None = None, poll_ms: int = 500
    ) -> AsyncIterator[PostgresExecutionQueue]:
        """Let a worker work until the block ends; it takes at most a batch at once, or else as many as it has slots."""
        registry = HandlerRegistry([handler or NoOp()], observer=self.observer)
        async with PostgresExecutionQueue(self.settings, self.identifiers) as queue:
            worker = self._worker(queue, registry, slots=slots, batch=batch or slots, poll_ms=poll_ms)
            running = asyncio.create_task(worker.run())
            try:
                yield queue
            finally:
                worker.stop()
                await running
                registry.close()

    async def flow_id(self, actions: int) -> UUID:
        """Return the id of the flow with so many actions, stored at its first use."""
        async with self.engine.connection() as connection:
            found = await (
                await connection.execute(
                    b"SELECT active_flow_id FROM orchestrator.request_type WHERE type_key = %s",
                    [type_key(actions)],
                )
            ).fetchone()
        if found is not None:
            return UUID(str(found["active_flow_id"]))
        stored: StoredFlow = await store_flow(
            PostgresUnitOfWork(self.engine), self.identifiers, actions=actions
        )
        return stored.id

    def _worker(
        self,
        queue: PostgresExecutionQueue,
        registry: HandlerRegistry,
        *,
        slots: int,
        batch: int,
        poll_ms: int,
    ) -> Worker:
        settings = WorkerSettings(
            owner=LeaseOwner(f"bench-{self.identifiers.salt()}"),
            concurrency=slots,
            batch_max=batch,
            poll_ms=poll_ms,
        )
        return Worker(
            settings=settings,
            queue=queue,
            runner=self._runner(queue, registry),
            renewal=LeaseRenewal(
                open_renewer=self._renewer,
                lease_seconds=settings.lease_seconds,
                renew_seconds=settings.renew_seconds,
                observer=self.observer,
                fraction=self.identifiers.fraction,
            ),
            wakeup=self.wakeup,
            observer=self.observer,
            fraction=self.identifiers.fraction,
        )

    def _runner(self, queue: PostgresExecutionQueue, registry: HandlerRegistry) -> ExecutionRunner:
        return ExecutionRunner(
            queue=queue,
            flows=self.flows,
            published_flows=PostgresPublishedFlows(self.engine),
            catalogue=FixedCatalogue([CONTRACT]),
            attempt=registry.attempt,
            evaluator=CompiledDecisionEvaluator(),
            identifiers=self.identifiers,
            observer=self.observer,
            limits=FlowLimits(),
        )

    @asynccontextmanager
    async def _renewer(self) -> AsyncIterator[PostgresLeaseRenewal]:
        renewal = PostgresLeaseRenewal(self.settings)
        try:
            yield renewal
        finally:
            await asyncio.to_thread(renewal.close)


@asynccontextmanager
async def durable_work(database: BenchDatabase, *, listens: bool = True) -> AsyncIterator[DurableWork]:
    """Open what a measurement needs and close it again."""
    settings = ConnectionSettings(url=database.runtime_url, application_name="bench")
    async with AsyncExitStack() as opened:
        engine = await opened.enter_async_context(PostgresEngine(settings, connections_max=10))
        wakeup = await opened.enter_async_context(PostgresWakeup(settings, listens=listens))
        yield DurableWork(database=database, settings=settings, engine=engine, wakeup=wakeup)


def go(request_id: RequestId) -> AcceptEventCommand:
    return AcceptEventCommand(
        request_id=request_id,
        event=EventKey("GO"),
        data={},
        key=IdempotencyKey("go"),
        precondition=AnyRevision(),
    )


async def per_second(count: int, work: Callable[[], Awaitable[object]]) -> float:
    """Do work that is of `count` things, and return how many of them a second it did."""
    start = perf_counter()
    await work()
    return count / (perf_counter() - start)


async def drained_per_second(
    work: DurableWork, count: int, *, actions: int, slots: int, batch: int | None = None
) -> float:
    """Accept so many events, then let one worker carry them out; return how many a second it did."""
    assert not work.database.number(_UNDONE), "what is left from before would be measured instead"
    await work.accepted(await work.requests(count, actions=actions))
    before = work.observer.ended

    async def drain() -> None:
        async with work.worker(slots=slots, batch=batch):
            await work.observer.ended_in_all(before + count)

    return await per_second(count, drain)
