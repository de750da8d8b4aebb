"""Executions a second, accepted to SUCCEEDED with all checkpoints and history, beside engines of the same kind."""

from collections.abc import Callable, Mapping
from functools import partial

from bench.durable_server import empty_database, migrated_database
from bench.durable_work import drained_per_second, durable_work
from bench.event_loop import run
from bench.figure import Figure, Measured, NoTarget, RatioAtLeast
from bench.peers import PeerProcess
from bench.sample import alternately

_SLOTS = 50
# Halves, so that one is written while the other computes.
_BATCH = 25
_OURS = 1_500
# As many as ours where an engine is fast enough for it.
_THEIRS = {"DBOS, started": 300, "DBOS, called": 300, "Absurd": 600}
_ROUNDS = 3


def _against(*engines: str, actions: int) -> Measured:
    """Measure ours beside the fastest of these, which may be modes of one engine."""
    with PeerProcess("durable_engines.py") as process:
        subjects: Mapping[str, Callable[[], float]] = {
            engine: partial(process.ask, _question(engine)) for engine in engines
        }
        samples = alternately({"ours": lambda: _ours(actions), **subjects}, rounds=_ROUNDS)
    value = samples.pop("ours")
    fastest = max(samples, key=lambda name: samples[name].median)
    return Measured(value=value, baseline=samples[fastest], baseline_name=fastest)


def _question(engine: str) -> dict[str, object]:
    url = empty_database().superuser_url
    return {"engine": engine, "url": url, "count": _THEIRS.get(engine, _OURS), "slots": _SLOTS}


def _ours(actions: int) -> float:
    async def drained() -> float:
        async with durable_work(migrated_database()) as work:
            return await drained_per_second(work, _OURS, actions=actions, slots=_SLOTS, batch=_BATCH)

    return run(drained())


def _figure(name: str, target: float | None, *engines: str, actions: int) -> Figure:
    return Figure(
        name=name,
        unit="executions/s",
        target=NoTarget() if target is None else RatioAtLeast(target),
        measure=partial(_against, *engines, actions=actions),
    )


FIGURES = (
    _figure("durable-dbos", 6, "DBOS, started", "DBOS, called", actions=3),
    _figure("durable-absurd", 2, "Absurd", actions=3),
    _figure("durable-procrastinate", 1.5, "Procrastinate", actions=1),
    _figure("durable-pgqueuer-psycopg", 1.5, "PgQueuer on psycopg", actions=1),
    _figure(
        "durable-pgqueuer-psycopg-listening-apart", None, "PgQueuer on psycopg, listening apart", actions=1
    ),
    _figure("durable-pgqueuer-asyncpg", 0.3, "PgQueuer on asyncpg", actions=1),
    _figure("durable-pgqueuer-asyncpg-unbounded", None, "PgQueuer on asyncpg, unbounded", actions=1),
)
