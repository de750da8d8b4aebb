"""What a seed consists of: a store, providers, worker processes and clients, put together anew for each."""

from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import count

from attrs import define, field
from tests.simulation.chances import Chances
from tests.simulation.clients import SimulatedClient
from tests.simulation.operators import Desk, SimulatedOperator
from tests.simulation.perilous_store import PerilousQueue
from tests.simulation.providers import Providers
from tests.simulation.scenarios import CHAINS, Scenario, scenario
from tests.simulation.stage import Make, Stage
from tests.simulation.stepping import Task
from tests.simulation.witness import Rows, Witness
from tests.simulation.workers import SimulatedWorker, Spawn

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.observer import Unobserved
from orchestrator_domain.testing.examples import fact_about, request_of
from orchestrator_domain.testing.in_memory.rows import ExecutionRow
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_domain.usecases.accept_event import AcceptEvent
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions

API = "api"
_LIMITS = FlowLimits()
_EVALUATOR = CompiledDecisionEvaluator()
_LIBRARY = FlowLibrary()


class Unheard(Unobserved):
    """An observer and a wakeup that nobody listens to; polls are the guarantee."""

    def hint(self) -> None: ...

    async def wait(self, *, timeout_seconds: float) -> None: ...


@define(eq=False, kw_only=True)
class World:
    """Everything that a scheduler steps. `trouble` is how likely faults are, from 0 to 1."""

    stage: Stage
    make: Make
    chances: Chances
    trouble: float
    scenario: Scenario
    witness: Witness
    providers: Providers
    identifiers: SequentialIdentifiers
    _requests: list[RequestId] = field(factory=list)
    _workers: list[SimulatedWorker] = field(factory=list)
    _starts: "count[int]" = field(factory=lambda: count(1))
    _begin: "tuple[Spawn, Callable[[Task], None]] | None" = None

    async def begin(self, spawn: Spawn, cancel: Callable[[Task], None]) -> None:
        """Store a flow and some requests, and start every process."""
        self._begin = (spawn, cancel)
        await self.stage.publish(self.scenario.flow)
        for _ in range(1 + self.chances.happens(0.3)):
            await self._create_request()
        await self.look()
        for number in range(2 + self.chances.happens(0.4)):
            client = self._client(number)
            spawn(f"client {number}", API, client.send_events())
        for _ in range(2 + self.chances.happens(0.3)):
            self._start_worker()
        if self.chances.happens(0.6):
            self._let_operators_come()

    def processes(self) -> Sequence[str]:
        return [API, *(worker.name for worker in self._workers)]

    def restart(self, process: str) -> None:
        """Start a worker again, after its process has ended."""
        self._workers = [worker for worker in self._workers if worker.name != process]
        self._start_worker()

    async def look(self) -> None:
        rows, now = await self.stage.look()
        self.witness.look(rows, now)

    async def advance(self, seconds: float) -> None:
        await self.stage.advance(seconds)
        await self.look()

    async def move_by_hand(self) -> None:
        request = self.chances.one_of(self._requests)
        self.witness.moved_by_hand[request] = 1
        await self.stage.move_by_hand(request)
        await self.look()

    def seconds_until_next(self) -> float | None:
        """Return when something will be due: 0 for now, None for never."""
        moments = [
            due for row in self.witness.rows.executions.values() if (due := self._wakes(row)) is not None
        ]
        if not moments:
            return None
        return max((min(moments) - self.witness.now).total_seconds(), 0.0)

    def _wakes(self, row: ExecutionRow) -> datetime | None:
        match row.execution.status:
            case ExecutionStatus.PENDING | ExecutionStatus.RETRY_WAIT:
                return row.execution.next_attempt_at
            case ExecutionStatus.RUNNING:
                return None if row.lease is None else row.lease.until
            case ExecutionStatus.RECONCILIATION_REQUIRED:
                return self.witness.now if self.witness.operated else None
            case _:
                return None

    async def _create_request(self) -> None:
        request = request_of(self.scenario.flow, self.identifiers)
        fact = fact_about(request, self.identifiers, kind=AuditKind.REQUEST_CREATED)
        await self.stage.create(request, fact)
        self._requests.append(request.id)

    def _client(self, number: int) -> SimulatedClient:
        accept = AcceptEvent(
            unit_of_work=self.stage.stories(),
            flows=_LIBRARY,
            identifiers=self.identifiers,
            wakeup=Unheard(),
            observer=Unheard(),
        )
        return SimulatedClient(
            number=number,
            request_id=self.chances.one_of(self._requests),
            accept=accept,
            witness=self.witness,
            chances=self.chances,
        )

    def _let_operators_come(self) -> None:
        assert self._begin is not None, "the world has begun"
        spawn, _ = self._begin
        self.witness.operated = True
        desk = Desk()
        for number in range(1 + self.chances.happens(0.5)):
            operator = self._operator(number, desk)
            spawn(f"operator {number} looks", API, operator.resolve_for_ever())

    def _operator(self, number: int, desk: Desk) -> SimulatedOperator:
        stories = self.stage.stories()
        stopped = StoppedExecutions(unit_of_work=stories, flows=_LIBRARY, catalogue=self.scenario.catalogue)
        resolve = ResolveExecution(
            unit_of_work=stories, stopped=stopped, identifiers=self.identifiers, wakeup=Unheard()
        )
        return SimulatedOperator(
            number=number,
            stopped=stopped,
            resolve=resolve,
            nothing_will_happen=self._nothing_will_happen,
            witness=self.witness,
            chances=self.chances,
            desk=desk,
        )

    def _nothing_will_happen(self, execution_id: ExecutionId) -> bool:
        """Say whether no call of an execution is on its way, and no process could still make one."""
        calls = (call.context.execution_id for call in self.providers.on_their_way)
        runs = (fence.execution_id for worker in self._workers for fence in worker.runs)
        return execution_id not in {*calls, *runs}

    def _start_worker(self) -> None:
        assert self._begin is not None, "the world has begun"
        spawn, cancel = self._begin
        queue = PerilousQueue(self.stage.queue(), self.witness)
        runner = self.make.runner(
            queue=queue,
            flows=_LIBRARY,
            published_flows=self.stage.published_flows(),
            catalogue=self.scenario.catalogue,
            attempt=self.make.attempt(self.providers.attempt),
            held=self.providers.held,
            probe=self.providers.probe,
            evaluator=_EVALUATOR,
            identifiers=self.identifiers,
            observer=Unheard(),
            limits=_LIMITS,
        )
        worker = SimulatedWorker(
            name=f"worker-{next(self._starts)}",
            slots=2,
            queue=queue,
            runner=runner,
            spawn=spawn,
            cancel=cancel,
        )
        self._workers.append(worker)
        worker.start()


def world(stage: Stage, chances: Chances, make: Make, *, now: datetime) -> World:
    """Return the world of a seed, before its beginning."""
    chosen = scenario(chances.one_of(range(len(CHAINS))))
    trouble = chances.one_of((0.0, 0.1, 0.2, 0.3, 0.4))
    rows = Rows(executions={}, requests={}, checkpoints={}, history={})
    witness = Witness(chosen, rows, now)
    return World(
        stage=stage,
        make=make,
        chances=chances,
        trouble=trouble,
        scenario=chosen,
        witness=witness,
        providers=Providers(chances, witness, lambda: witness.now, trouble),
        identifiers=SequentialIdentifiers(seed=chances.seed),
    )
