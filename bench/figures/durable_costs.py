"""What the worker costs the server: commits per execution, statements while idle, claims over large tables."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter, sleep

from bench.durable_rows import add_finished, add_pending, finish_oldest
from bench.durable_server import BenchDatabase, fresh_migrated_database, logging_database, migrated_database
from bench.durable_work import DurableWork, drained_per_second, durable_work
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtMost, ValueAtMost
from bench.sample import Sample
from orchestrator_domain.identifiers import LeaseOwner
from orchestrator_postgres.execution_queue import PostgresExecutionQueue

_ROUNDS = 3
_COMMITS = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bench'"
_IDLE_SECONDS = 10
_POLL_MS = 100
_CLAIMS = 50


def _commits() -> Measured:
    """Count the commits of a drain with 50 in flight, taken by halves; those of acceptance are over before."""
    count, database = 500, migrated_database()

    # A session tells its counters for certain only when it is closed.
    async def accepted() -> None:
        async with durable_work(database) as work:
            await work.accepted(await work.requests(count, actions=3))

    async def carried_out() -> None:
        async with durable_work(database) as work, work.worker(slots=50, batch=25):
            await work.observer.ended_in_all(count)

    def once() -> float:
        run(accepted())
        before = _commits_told(database)
        run(carried_out())
        return (_commits_told(database) - before) / count

    return Measured(value=Sample(rounds=tuple(once() for _ in range(_ROUNDS))))


def _commits_told(database: BenchDatabase) -> float:
    """Return the commits of this database so far, once every session of ours has ended."""
    while database.number(_SESSIONS):
        sleep(0.05)
    return database.number(_COMMITS)


def _idle() -> Measured:
    """Count the statements in the server's log while a worker has nothing to do, beside the polls it may make."""
    database, log = logging_database()

    async def once() -> float:
        async with durable_work(database) as work, work.worker(slots=10, poll_ms=_POLL_MS):
            await asyncio.sleep(2)  # connections are made and statements prepared
            begun = log.stat().st_size
            await asyncio.sleep(_IDLE_SECONDS)
            with log.open("rb") as lines:
                lines.seek(begun)
                told = lines.read().decode()
        return len(re.findall(r"LOG:  (?:statement|execute)", told)) / _IDLE_SECONDS

    polls = 1000 / _POLL_MS
    return Measured(
        value=Sample(rounds=tuple(run(once()) for _ in range(_ROUNDS))),
        baseline=Sample(rounds=(polls,) * _ROUNDS),
        baseline_name="polls/s",
    )


async def _claims(queue: PostgresExecutionQueue) -> float:
    """Return the milliseconds of one claim, the mean of several in a row."""
    start = perf_counter()
    for _ in range(_CLAIMS):
        claimed = await queue.claim(owner=LeaseOwner("bench"), limit=10, lease_seconds=600)
        assert len(claimed) == 10, "enough is due"
    return (perf_counter() - start) / _CLAIMS * 1e3


async def _with_queue(
    database: BenchDatabase, body: Callable[[DurableWork, PostgresExecutionQueue], Awaitable[float]]
) -> float:
    async with (
        durable_work(database) as work,
        PostgresExecutionQueue(work.settings, work.identifiers) as queue,
    ):
        await _claims(queue)
        return await body(work, queue)


def _large() -> Measured:
    """Claim beside 10^6 finished and 10^5 pending rows, and beside 10^3 and as many pending as are claimed."""
    small, large = fresh_migrated_database(), fresh_migrated_database()
    for database, finished, pending in ((small, 1_000, 0), (large, 1_000_000, 100_000)):
        run(_prepared(database))
        add_finished(database, finished)
        add_pending(database, pending)
    found: dict[str, list[float]] = {"small": [], "large": []}
    for _ in range(_ROUNDS):
        for name, database in (("small", small), ("large", large)):
            add_pending(database, 2 * _CLAIMS * 10)
            found[name].append(run(_with_queue(database, lambda _, queue: _claims(queue))))
    return Measured(
        value=Sample(rounds=tuple(found["large"])),
        baseline=Sample(rounds=tuple(found["small"])),
        baseline_name="10^3 and 10^3 rows",
    )


async def _prepared(database: BenchDatabase) -> None:
    async with durable_work(database) as work:
        await drained_per_second(work, 10, actions=1, slots=10)


def _old_snapshot(*, seconds: float) -> Measured:
    """Claim before, and while a session holds a snapshot from before 40,000 executions were claimed and finished.

    They became due over so many seconds; 0 for all at one moment.
    """
    before: list[float] = []
    after: list[float] = []

    async def once(database: BenchDatabase, _: DurableWork, queue: PostgresExecutionQueue) -> float:
        before.append(await _claims(queue))
        with database.connect() as holder:
            holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            holder.execute("SELECT count(*) FROM orchestrator.execution")
            finish_oldest(database, 40_000)
            await _claims(queue)
            after.append(await _claims(queue))
            holder.execute("ROLLBACK")
        return 0.0

    for _ in range(_ROUNDS):
        database = fresh_migrated_database()
        run(_prepared(database))
        add_pending(database, 40_000 + 4 * _CLAIMS * 10, seconds=seconds)
        run(_with_queue(database, partial(once, database)))
    return Measured(
        value=Sample(rounds=tuple(after)), baseline=Sample(rounds=tuple(before)), baseline_name="before"
    )


FIGURES = (
    Figure(name="durable-commits", unit="commits/execution", target=ValueAtMost(1.5), measure=_commits),
    Figure(name="durable-idle-statements", unit="statements/s", target=RatioAtMost(1.2), measure=_idle),
    Figure(name="durable-claim-large", unit="ms", target=RatioAtMost(1.3), measure=_large),
    Figure(
        name="durable-claim-old-snapshot",
        unit="ms",
        target=RatioAtMost(1.5),
        measure=partial(_old_snapshot, seconds=42.0),
    ),
    Figure(
        name="durable-claim-old-snapshot-due-at-once",
        unit="ms",
        target=RatioAtMost(1.5),
        measure=partial(_old_snapshot, seconds=0.0),
    ),
)
