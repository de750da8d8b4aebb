"""What a process of the service costs before it does anything: the time to its readiness, and resident memory."""

import subprocess
import sys
from time import perf_counter, sleep

from bench.durable_server import fresh_migrated_database
from bench.figure import Figure, Measured, RatioAtMost, ValueAtMost
from bench.sample import Sample, alternately, milliseconds
from bench.serving_process import PLAIN_ENVIRONMENT, ServingProcess

_IDLE_SECONDS, _ROUNDS = 5, 3
_LIBRARIES = [sys.executable, "-c", "import starlette, sqlalchemy, psycopg"]


def _start() -> Measured:
    database = fresh_migrated_database()

    def until_ready() -> float:
        begun = perf_counter()
        with ServingProcess(database) as process:
            process.ready()
            return (perf_counter() - begun) * 1e3

    def until_imported() -> float:
        return milliseconds(lambda: subprocess.run(_LIBRARIES, check=True, env=PLAIN_ENVIRONMENT))

    samples = alternately({"ours": until_ready, "libraries": until_imported})
    return Measured(
        value=samples["ours"],
        baseline=samples["libraries"],
        baseline_name="importing Starlette, SQLAlchemy, psycopg",
    )


def _memory() -> Measured:
    database = fresh_migrated_database()

    def resident() -> float:
        with ServingProcess(database) as process:
            process.ready()
            sleep(_IDLE_SECONDS)
            return process.resident_mib

    return Measured(value=Sample(rounds=tuple(resident() for _ in range(_ROUNDS))))


FIGURES = (
    Figure(name="serve-start", unit="ms", target=RatioAtMost(2), measure=_start),
    Figure(name="serve-memory", unit="MiB", target=ValueAtMost(130), measure=_memory),
)
