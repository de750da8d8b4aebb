"""What is told of a process beside its facts: durations of claims and calls, contexts of runs, and the state at a scrape."""

from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic

from attrs import define, field, frozen

from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.usecases.run_progress import RunEnded
from orchestrator_postgres.queue_state import read_queue_state
from orchestrator_service.assembly.parts import Parts
from orchestrator_service.metric_table import CLAIM_SECONDS, PROVIDER_CALLS
from orchestrator_service.metrics import BoundedLabel, Metrics
from orchestrator_service.observation import run_context
from orchestrator_service.scrape import PoolReading, QueueReading, Scrape, WorkerReading
from orchestrator_worker.held_calls import HeldCalls
from orchestrator_worker.slots import Runner
from orchestrator_worker.tracing import TracedRuns
from orchestrator_worker.worker import Claims, Worker


@frozen
class RunsInContext(Runner):
    """Let every line of a run carry what it is about."""

    _runs: TracedRuns

    async def run(self, claimed: ClaimedExecution) -> RunEnded:
        run_context(claimed)
        return await self._runs.run(claimed)


@frozen
class MeasuredClaims(Claims):
    """Measure how long claims take."""

    _claims: Claims
    _metrics: Metrics

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        began_at = monotonic()
        claimed = await self._claims.claim(owner=owner, limit=limit, lease_seconds=lease_seconds)
        self._metrics.histogram(CLAIM_SECONDS).observe(monotonic() - began_at)
        return claimed


@define
class CallsCounted:
    """Measure calls to providers, as `ObservedCalls` tells them."""

    _metrics: Metrics
    _endpoints: BoundedLabel = field(factory=BoundedLabel, init=False)

    def __call__(self, endpoint: str, answer: str, seconds: float) -> None:
        labels = (self._endpoints.of(endpoint), answer)
        self._metrics.histogram(PROVIDER_CALLS).labels(*labels).observe(seconds)


def scrape_of(parts: Parts, read_worker: Callable[[], WorkerReading] | None) -> Scrape:
    return Scrape(
        metrics=parts.metrics,
        read_queue=partial(_queue, parts),
        read_pool=partial(_pool, parts),
        read_worker=read_worker,
    )


def read_worker(parts: Parts, worker: Worker, calls: HeldCalls) -> WorkerReading:
    return WorkerReading(
        slots=parts.settings.worker.concurrency,
        slots_in_use=worker.slots_in_use,
        circuits={name: state.value for name, state in calls.circuits().items()},
    )


async def _queue(parts: Parts) -> QueueReading:
    state = await read_queue_state(parts.engine)
    return QueueReading(
        executions={status.value: count for status, count in state.executions.items()},
        longest_due_seconds=state.longest_due_seconds,
        expired_leases=state.expired_leases,
        oldest_reconciliation_seconds=state.oldest_reconciliation_seconds,
    )


def _pool(parts: Parts) -> PoolReading:
    use = parts.engine.pool_use()
    return PoolReading(busy=use.busy, idle=use.idle, waiting=use.waiting, connections_max=use.connections_max)
