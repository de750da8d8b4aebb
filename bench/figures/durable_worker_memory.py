"""Resident memory of a worker's process after 10^5 executions, over after 10^3."""

from bench.durable_rows import add_pending
from bench.durable_server import BenchDatabase, fresh_migrated_database
from bench.durable_work import durable_work
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtMost
from bench.sample import Sample
from bench.worker_process import WorkerProcess, await_ended

_FEW, _MANY, _SLOTS, _ROUNDS = 1_000, 100_000, 50, 3


def _resident(database: BenchDatabase) -> tuple[float, float]:
    """Return MiB after few and after many executions of one process."""
    with WorkerProcess(database, slots=_SLOTS) as worker:
        worker.ready()
        worker.begin()
        add_pending(database, _FEW)
        await_ended([worker], _FEW)
        after_few = worker.said().resident_mib
        add_pending(database, _MANY - _FEW)
        await_ended([worker], _MANY)
        return after_few, worker.said().resident_mib


async def _prepared(database: BenchDatabase) -> None:
    async with durable_work(database) as work:
        await work.flow_id(1)


def _measure() -> Measured:
    database = fresh_migrated_database()
    run(_prepared(database))
    found = [_resident(database) for _ in range(_ROUNDS)]
    return Measured(
        value=Sample(rounds=tuple(many for _, many in found)),
        baseline=Sample(rounds=tuple(few for few, _ in found)),
        baseline_name="after 10^3",
    )


FIGURES = (Figure(name="durable-worker-memory", unit="MiB", target=RatioAtMost(1.1), measure=_measure),)
