"""One look of Prometheus at this process: what is counted as it happens, and what is read when somebody asks."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Final

from attrs import define, field
from structlog.stdlib import get_logger

from orchestrator_service import metric_table as told
from orchestrator_service.metrics import BoundedLabel, Metrics

KEPT_SECONDS: Final = 10.0
"""How long what was read of the queue is told again, so that many who ask cost the database no more than one."""
_READ_SECONDS_MAX: Final = 2.0
_CIRCUIT_STATES: Final = ("closed", "open", "probing")


@define(kw_only=True)
class QueueReading:
    """What one look at the queue found; times in seconds, 0 where nothing waits."""

    executions: Mapping[str, int]
    longest_due_seconds: float
    expired_leases: int
    oldest_reconciliation_seconds: float


@define(kw_only=True)
class PoolReading:
    busy: int
    idle: int
    waiting: int
    connections_max: int


@define(kw_only=True)
class WorkerReading:
    """How a worker stands; `circuits` are the states by endpoint."""

    slots: int
    slots_in_use: int
    circuits: Mapping[str, str]


@define(kw_only=True)
class Scrape:
    """Answer a scrape. It never fails: what can't be read is left out, and `orchestrator_queue_observed` says so."""

    metrics: Metrics
    read_queue: Callable[[], Awaitable[QueueReading]]
    read_pool: Callable[[], PoolReading]
    read_worker: Callable[[], WorkerReading] | None = None
    clock: Callable[[], float] = monotonic
    _read_at: float | None = field(default=None, init=False)
    _reading: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _endpoints: BoundedLabel = field(factory=BoundedLabel, init=False)

    async def __call__(self) -> bytes:
        async with self._reading:
            if self._read_at is None or self.clock() - self._read_at >= KEPT_SECONDS:
                await self._look_at_queue()
                self._read_at = self.clock()
        self._look_at_process()
        return self.metrics.exposition()

    async def _look_at_queue(self) -> None:
        try:
            async with asyncio.timeout(_READ_SECONDS_MAX):
                reading = await self.read_queue()
        except Exception as fault:  # noqa: BLE001 - whatever it is, what the process knows of itself must still be told
            get_logger("orchestrator.metrics").warning("queue_unobserved", kind=type(fault).__name__)
            for metric in _OF_THE_QUEUE:
                self.metrics.forget(metric)
            self.metrics.gauge(told.QUEUE_OBSERVED).set(0)
            return
        self.metrics.gauge(told.QUEUE_OBSERVED).set(1)
        for status, count in reading.executions.items():
            self.metrics.gauge(told.QUEUE_EXECUTIONS).labels(status).set(count)
        self.metrics.gauge(told.QUEUE_LONGEST_DUE).set(reading.longest_due_seconds)
        self.metrics.gauge(told.QUEUE_EXPIRED_LEASES).set(reading.expired_leases)
        self.metrics.gauge(told.QUEUE_OLDEST_RECONCILIATION).set(reading.oldest_reconciliation_seconds)

    def _look_at_process(self) -> None:
        pool = self.read_pool()
        self.metrics.gauge(told.POOL_CONNECTIONS).labels("busy").set(pool.busy)
        self.metrics.gauge(told.POOL_CONNECTIONS).labels("idle").set(pool.idle)
        self.metrics.gauge(told.POOL_CONNECTIONS_MAX).set(pool.connections_max)
        self.metrics.gauge(told.POOL_WAITING).set(pool.waiting)
        if self.read_worker is None:
            return
        worker = self.read_worker()
        self.metrics.gauge(told.SLOTS).set(worker.slots)
        self.metrics.gauge(told.SLOTS_IN_USE).set(worker.slots_in_use)
        for endpoint, state in worker.circuits.items():
            for each in _CIRCUIT_STATES:
                labels = (self._endpoints.of(endpoint), each)
                self.metrics.gauge(told.CIRCUITS).labels(*labels).set(state == each)


_OF_THE_QUEUE: Final = tuple(metric for metric in told.METRICS if metric.scope == "queue")
