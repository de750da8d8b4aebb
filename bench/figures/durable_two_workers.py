"""Two worker processes over one, with handlers that wait 100 ms, and the statements that either case sends.

Executions are accepted and processes ready before any of them begins. The time is the database's own: from the start of
the first action to the last end. Statements are counted in the log of a server that logs them all, in runs of their own.
"""

import re
from contextlib import ExitStack

from bench.durable_server import BenchDatabase, fresh_migrated_database, logging_database
from bench.durable_work import durable_work
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtLeast, RatioAtMost
from bench.sample import alternately
from bench.worker_process import WorkerProcess, await_ended

# Enough of them that the first moments, when plans are made and runs fall into step, are a small part of the time.
_COUNT, _SLOTS, _HANDLER_SECONDS, _ROUNDS = 900, 10, 0.1, 3
_SECONDS = """
SELECT extract(epoch FROM max(execution.updated_at) - min(started.started_at))
FROM orchestrator.execution JOIN orchestrator.action_execution AS started ON started.execution_id = execution.id
WHERE execution.id IN (SELECT id FROM orchestrator.execution ORDER BY created_at DESC LIMIT {count})
"""
_STATEMENT = re.compile(r"LOG:  (?:statement|execute)")


def _worked(database: BenchDatabase, processes: int) -> None:
    """Let so many processes carry out executions that wait for them."""
    with ExitStack() as opened:
        workers = [
            opened.enter_context(WorkerProcess(database, slots=_SLOTS, handler_seconds=_HANDLER_SECONDS))
            for _ in range(processes)
        ]
        for worker in workers:
            worker.ready()
        for worker in workers:
            worker.begin()
        await_ended(workers, _COUNT)


async def _accepted(database: BenchDatabase) -> None:
    async with durable_work(database) as work:
        await work.accepted(await work.requests(_COUNT, actions=1))


def _rate() -> Measured:
    database = fresh_migrated_database()

    def rate(processes: int) -> float:
        run(_accepted(database))
        _worked(database, processes)
        return _COUNT / database.number(_SECONDS.format(count=_COUNT))

    samples = alternately({"two": lambda: rate(2), "one": lambda: rate(1)}, rounds=_ROUNDS)
    return Measured(value=samples["two"], baseline=samples["one"], baseline_name="one worker")


def _statements() -> Measured:
    database, log = logging_database()

    def statements(processes: int) -> float:
        run(_accepted(database))
        begun = log.stat().st_size
        _worked(database, processes)
        with log.open("rb") as lines:
            lines.seek(begun)
            return len(_STATEMENT.findall(lines.read().decode())) / _COUNT

    samples = alternately({"two": lambda: statements(2), "one": lambda: statements(1)}, rounds=_ROUNDS)
    return Measured(value=samples["two"], baseline=samples["one"], baseline_name="one worker")


FIGURES = (
    Figure(name="durable-two-workers", unit="executions/s", target=RatioAtLeast(1.9), measure=_rate),
    Figure(
        name="durable-two-workers-statements",
        unit="statements/execution",
        target=RatioAtMost(1.1),
        measure=_statements,
    ),
)
