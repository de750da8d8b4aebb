"""What the worker costs beside bare statements: its throughput over a script that sends the same ones, alike coalesced.

One script fills its rows in without a thought; the other one also parses, validates, hashes and serialises what ours does.
"""

from collections.abc import Callable
from functools import cache

from bench.durable_server import migrated_database
from bench.durable_work import drained_per_second, durable_work, per_second
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtLeast
from bench.sample import Sample, alternately
from bench.script_checked_rows import CheckedRows
from bench.script_rows import ScriptRows
from bench.worker_script import WorkerScript

_COUNT, _ACTIONS, _SLOTS, _BATCH, _ROUNDS = 1_000, 3, 50, 25, 5
_LEFT = "SELECT count(*) FROM orchestrator.execution WHERE status <> 'SUCCEEDED'"


async def _ours() -> float:
    async with durable_work(migrated_database()) as work:
        return await drained_per_second(work, _COUNT, actions=_ACTIONS, slots=_SLOTS, batch=_BATCH)


async def _script(kind: type[ScriptRows]) -> float:
    async with durable_work(migrated_database()) as work:
        await work.accepted(await work.requests(_COUNT, actions=_ACTIONS))
        script = WorkerScript(work=work, rows=kind(work.identifiers), actions=_ACTIONS, slots=_SLOTS)
        rate = await per_second(_COUNT, script.drain)
    assert not migrated_database().number(_LEFT), "a script that leaves something measures nothing"
    return rate


@cache
def _samples() -> dict[str, Sample]:
    return alternately(
        {
            "ours": lambda: run(_ours()),
            "bare": lambda: run(_script(ScriptRows)),
            "checking": lambda: run(_script(CheckedRows)),
        },
        rounds=_ROUNDS,
    )


def _beside(script: str) -> Callable[[], Measured]:
    return lambda: Measured(
        value=_samples()["ours"], baseline=_samples()[script], baseline_name=f"{script} script"
    )


FIGURES = (
    Figure(
        name="durable-worker-over-script",
        unit="executions/s",
        target=RatioAtLeast(0.35),
        measure=_beside("bare"),
    ),
    Figure(
        name="durable-worker-over-checking-script",
        unit="executions/s",
        target=RatioAtLeast(0.6),
        measure=_beside("checking"),
    ),
)
