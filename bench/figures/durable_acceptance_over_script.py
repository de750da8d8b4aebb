"""Acceptances a second through the use case, over a script that accepts as many with coalesced statements.

One script fills its rows in without a thought; the other one also parses, validates, hashes and serialises what ours does.
"""

from collections.abc import Callable
from functools import cache

from bench.acceptance_script import AcceptanceScript
from bench.durable_server import accepting_database
from bench.durable_work import durable_work, per_second
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtLeast
from bench.sample import Sample, alternately
from bench.script_checked_rows import CheckedRows
from bench.script_rows import ScriptRows

_COUNT, _CLIENTS, _ROUNDS = 1_500, 10, 5


async def _use_case() -> float:
    async with durable_work(accepting_database()) as work:
        requests = await work.requests(_COUNT, actions=1)
        return await per_second(_COUNT, lambda: work.accepted(requests, clients=_CLIENTS))


async def _script(kind: type[ScriptRows]) -> float:
    async with durable_work(accepting_database()) as work:
        requests = await work.requests(_COUNT, actions=1)
        flow = await work.flow_id(1)
        script = AcceptanceScript(work=work, rows=kind(work.identifiers), clients=_CLIENTS)
        return await per_second(_COUNT, lambda: script.accept(requests, flow))


@cache
def _samples() -> dict[str, Sample]:
    return alternately(
        {
            "ours": lambda: run(_use_case()),
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
        name="durable-acceptance-over-script",
        unit="acceptances/s",
        target=RatioAtLeast(0.35),
        measure=_beside("bare"),
    ),
    Figure(
        name="durable-acceptance-over-checking-script",
        unit="acceptances/s",
        target=RatioAtLeast(0.6),
        measure=_beside("checking"),
    ),
)
