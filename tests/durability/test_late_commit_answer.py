"""An ending whose COMMIT is answered late is no lost lease: the run hears of it, and tells how it ended."""

import asyncio
import threading
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from attrs import field, frozen
from tests.plugins.cutting_proxy import CuttingProxy
from tests.plugins.migrated_database import TestDatabase
from tests.plugins.postgres_harness import PostgresHarness

from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.identifiers import ExecutionId, LeaseOwner
from orchestrator_domain.ports.execution_queue import ClaimedExecution, Renewed
from orchestrator_domain.testing.contracts.fenced_writes import complete
from orchestrator_domain.testing.contracts.stored_cases import StoredCases
from orchestrator_domain.testing.in_memory.wakeup import InMemoryWakeup
from orchestrator_domain.testing.manual_clock import ManualClock
from orchestrator_domain.testing.recording_observer import (
    ExecutionEnded,
    LeaseWasLost,
    RecordingObserver,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.execution_queue import PostgresExecutionQueue
from orchestrator_postgres.lease_renewal import LeaseRenewal as PostgresLeaseRenewal
from orchestrator_worker.renewal import LeaseRenewal
from orchestrator_worker.worker import Worker
from orchestrator_worker.worker_settings import WorkerSettings

PATIENCE_SECONDS = 60.0
RENEWALS = 2


class ProxiedHarness(PostgresHarness):
    """A harness whose queue goes through a proxy."""

    def __init__(self, database: TestDatabase, proxy: CuttingProxy) -> None:
        super().__init__(database)
        settings = ConnectionSettings(url=proxy.url, application_name="orchestrator-proxied")
        self._queue = PostgresExecutionQueue(settings, SequentialIdentifiers(seed=8))


@frozen(kw_only=True)
class WatchedRenewal:
    """Renew past the proxy, and say once an execution was found given back several times."""

    renewal: PostgresLeaseRenewal
    found: list[ExecutionId] = field(factory=list)
    often: threading.Event = field(factory=threading.Event)

    @asynccontextmanager
    async def open(self) -> AsyncIterator["WatchedRenewal"]:
        yield self

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        renewed = await self.renewal.renew(fences=fences, lease_seconds=lease_seconds)
        self.found.extend(renewed.given_back)
        if len(self.found) >= RENEWALS:
            self.often.set()
        return renewed


@frozen(kw_only=True)
class CompletingRunner:
    """Complete what was claimed, and tell so once the store has answered."""

    cases: StoredCases
    observer: RecordingObserver
    proxy: CuttingProxy
    told: asyncio.Event = field(factory=asyncio.Event)

    async def run(self, claimed: ClaimedExecution) -> None:
        self.proxy.hold_next(b"COMMIT")
        try:
            await complete(self.cases, claimed, claimed.fence, [])
            self.observer.execution_ended(
                execution_id=claimed.execution.id, status=ExecutionStatus.SUCCEEDED, error_code=None
            )
        finally:
            self.told.set()


async def test_a_completion_whose_commit_is_answered_late_is_told_as_an_end_and_not_as_a_lost_lease(
    database: TestDatabase,
) -> None:
    async with CuttingProxy(database.runtime_url) as proxy, ProxiedHarness(database, proxy) as harness:
        cases, observer = StoredCases(harness=harness), RecordingObserver()
        runner = CompletingRunner(cases=cases, observer=observer, proxy=proxy)
        renewal = WatchedRenewal(renewal=PostgresLeaseRenewal(harness.settings))
        execution = await cases.accepted()
        worker = _worker(harness, runner, renewal, observer)
        working = asyncio.create_task(worker.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            await proxy.held.wait()
            assert await asyncio.to_thread(renewal.often.wait, PATIENCE_SECONDS)
            proxy.let_answers_through()
            await runner.told.wait()
            worker.stop()
            await working
        renewal.renewal.close()
    assert set(renewal.found) == {execution.id}
    ended = ExecutionEnded(execution_id=execution.id, status="SUCCEEDED", error_code=None)
    assert [one for one in observer.observations if isinstance(one, ExecutionEnded | LeaseWasLost)] == [ended]


def _worker(
    harness: ProxiedHarness, runner: CompletingRunner, renewal: WatchedRenewal, observer: RecordingObserver
) -> Worker:
    return Worker(
        settings=WorkerSettings(owner=LeaseOwner("host:1:a"), poll_ms=10, concurrency=1),
        queue=harness.queue(),
        runner=runner,
        renewal=LeaseRenewal(
            open_renewer=renewal.open,
            lease_seconds=60,
            renew_seconds=1,
            observer=observer,
            fraction=lambda: 0.5,
        ),
        wakeup=InMemoryWakeup(ManualClock(), pause=lambda: asyncio.sleep(0.001)),
        observer=observer,
        fraction=lambda: 0.5,
    )
