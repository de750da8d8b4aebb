"""What running leaves behind in `execution`: dead tuples, and indexes that are larger than their live entries need."""

import time

from bench.durable_server import BenchDatabase, fresh_migrated_database
from bench.durable_work import drained_per_second, durable_work
from bench.event_loop import run
from bench.figure import Figure, Measured, NoTarget
from bench.sample import Sample

_COUNT, _ROUNDS = 2_000, 3
_WITHOUT_VACUUM = "ALTER TABLE orchestrator.execution SET (autovacuum_enabled = false)"
_SESSIONS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bench'"
_DEAD = "SELECT n_dead_tup FROM pg_stat_all_tables WHERE relid = 'orchestrator.execution'::regclass"
_INDEXES = "SELECT pg_indexes_size('orchestrator.execution') / 1024.0"


async def _worked(database: BenchDatabase) -> None:
    async with durable_work(database) as work:
        await drained_per_second(work, _COUNT, actions=3, slots=50)


def _database_after_work() -> BenchDatabase:
    """Return a database on which so many executions ran and nothing was cleared away but by the pages themselves."""
    database = fresh_migrated_database()
    with database.connect() as connection:
        connection.execute(_WITHOUT_VACUUM)
    run(_worked(database))
    # A session tells its counters for certain only when it is closed.
    while database.number(_SESSIONS):
        time.sleep(0.05)
    return database


def _dead_tuples() -> Measured:
    return Measured(
        value=Sample(rounds=tuple(_database_after_work().number(_DEAD) / _COUNT for _ in range(_ROUNDS)))
    )


def _index_growth() -> Measured:
    grown: list[float] = []
    rebuilt: list[float] = []
    for _ in range(_ROUNDS):
        database = _database_after_work()
        grown.append(database.number(_INDEXES))
        with database.connect() as connection:
            connection.execute("REINDEX TABLE orchestrator.execution")
        rebuilt.append(database.number(_INDEXES))
    return Measured(
        value=Sample(rounds=tuple(grown)), baseline=Sample(rounds=tuple(rebuilt)), baseline_name="rebuilt"
    )


FIGURES = (
    Figure(name="durable-dead-tuples", unit="dead tuples/execution", target=NoTarget(), measure=_dead_tuples),
    Figure(name="durable-index-growth", unit="KiB", target=NoTarget(), measure=_index_growth),
)
