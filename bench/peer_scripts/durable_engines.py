# ruff: noqa: PLC0415 -- an engine is imported when it is asked for, so that it stands alone in its process
"""No-op jobs and workflows in other engines; answers one line of JSON for each line read.

`{"engine": name, "url": …, "count": n, "slots": n}` is answered by how many of them a second were carried out, or by how
long each of them waited. Each
engine makes its schema at its first question; the work is queued before the clock starts, unless the engine starts
faster what it isn't given by a queue.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import cache
from itertools import count as counter
from time import perf_counter
from typing import Any

import uvloop

type Measure = Callable[[str, int, int], Awaitable[float | list[float]]]

_NUMBERS = counter()


@cache
def dbos(url: str) -> Any:
    """Launch DBOS with a workflow of three steps."""
    from dbos import DBOS, Queue  # type: ignore[import-not-found]  # in the peers' environment only

    DBOS(
        config={
            "name": "bench",
            "system_database_url": url.replace("postgresql://", "postgresql+psycopg://"),
            "sys_db_pool_size": 20,
            "log_level": "ERROR",
        }
    )

    @DBOS.step()  # type: ignore[untyped-decorator]
    async def step() -> bool:
        return True

    @DBOS.workflow()  # type: ignore[untyped-decorator]
    async def workflow() -> None:
        for _ in range(3):
            await step()

    DBOS.launch()
    return DBOS, workflow, Queue


async def dbos_started(url: str, count: int, slots: int) -> float:
    """Start workflows directly, so many at once; each start is stored before its first step."""
    engine, workflow, _ = dbos(url)
    turns = asyncio.Semaphore(slots)

    async def one() -> None:
        async with turns:
            await (await engine.start_workflow_async(workflow)).get_result()

    start = perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return count / (perf_counter() - start)


async def dbos_called(url: str, count: int, slots: int) -> float:
    """Call workflows and await them, so many at once, without any queue."""
    _, workflow, _ = dbos(url)
    turns = asyncio.Semaphore(slots)

    async def one() -> None:
        async with turns:
            await workflow()

    start = perf_counter()
    await asyncio.gather(*(one() for _ in range(count)))
    return count / (perf_counter() - start)


async def absurd(url: str, count: int, slots: int) -> float:
    """Spawn tasks of three steps and let one asyncio worker do them."""
    import psycopg  # type: ignore[import-not-found,unused-ignore]  # in the peers' environment
    from absurd_sdk import AsyncAbsurd  # type: ignore[import-not-found]  # in the peers' environment only
    from absurdctl import BUNDLED_SCHEMA_SQL  # type: ignore[import-not-found]  # in the peers' environment only

    with psycopg.connect(url, autocommit=True) as connection:
        known = connection.execute("SELECT to_regnamespace('absurd') IS NOT NULL").fetchone()
        if known is None or not known[0]:
            connection.execute(BUNDLED_SCHEMA_SQL.encode())
    app = AsyncAbsurd(url, queue_name=f"q{next(_NUMBERS)}")
    await app.create_queue()
    done, left = asyncio.Event(), count

    @app.register_task("bench")  # type: ignore[untyped-decorator]
    async def bench(_parameters: Any, context: Any) -> None:
        nonlocal left
        for number in range(3):
            await context.step(f"step{number}", _true)
        left -= 1
        if not left:
            done.set()

    for _ in range(count):
        await app.spawn("bench", {})
    start = perf_counter()
    working = asyncio.create_task(app.start_worker(concurrency=slots, batch_size=slots, poll_interval=0.01))
    await done.wait()
    seconds = perf_counter() - start
    app.stop_worker()
    await working
    await app.close()
    return count / seconds


async def _true() -> bool:
    return True


async def procrastinate(url: str, count: int, slots: int) -> float:
    """Defer no-op jobs in one batch and let one worker do them."""
    from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found]  # in the peers' environment only

    app = App(connector=PsycopgConnector(conninfo=url, min_size=4, max_size=max(20, slots)))

    ended = 0.0

    @app.task(name="bench")  # type: ignore[untyped-decorator]
    async def bench() -> None:
        nonlocal ended
        ended = perf_counter()

    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        await bench.batch_defer_async(*({} for _ in range(count)))
        start = perf_counter()
        await app.run_worker_async(wait=False, concurrency=slots, install_signal_handlers=False)
        return count / (ended - start)


async def procrastinate_starts(url: str, count: int, slots: int) -> list[float]:
    """Defer jobs one by one to an idle worker; return the milliseconds until each began."""
    from procrastinate import App, PsycopgConnector  # in the peers' environment only

    app = App(connector=PsycopgConnector(conninfo=url, min_size=4, max_size=20))
    begun: asyncio.Queue[float] = asyncio.Queue()

    @app.task(name="latency")  # type: ignore[untyped-decorator]
    async def latency() -> None:
        begun.put_nowait(perf_counter())

    async with app.open_async():
        if not await app.check_connection_async():
            await app.schema_manager.apply_schema_async()
        working = asyncio.create_task(
            app.run_worker_async(wait=True, concurrency=slots, install_signal_handlers=False)
        )
        waits: list[float] = []
        for number in range(count + 5):
            await asyncio.sleep(0.02)
            await latency.defer_async()
            committed = perf_counter()
            waited = (await begun.get() - committed) * 1e3
            if number >= 5:
                waits.append(waited)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return waits


async def pgqueuer_psycopg(url: str, count: int, slots: int) -> float:
    """Use one connection, as its documentation does, and take all jobs at once.

    Its driver holds the connection that it listens on for up to a second at a time, and every statement waits for it:
    the fewer there are, the faster it is.
    """
    import psycopg  # type: ignore[import-not-found,unused-ignore]  # in the peers' environment
    from pgqueuer.db import PsycopgDriver  # type: ignore[import-not-found]  # in the peers' environment only

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        return await _pgqueuer(PsycopgDriver(connection), count, batch=max(count, slots))


async def pgqueuer_psycopg_listening_apart(url: str, count: int, slots: int) -> float:
    """Listen on a connection of its own, which its driver can't do by itself."""
    import psycopg  # type: ignore[import-not-found,unused-ignore]  # in the peers' environment
    from pgqueuer.db import PsycopgDriver

    class ListeningApart(PsycopgDriver):  # type: ignore[misc]  # of a class that is known in the peers' environment only
        def __init__(self, connection: Any, listening: Any) -> None:
            super().__init__(connection)
            self._apart = PsycopgDriver(listening)
            self.add_listener = self._apart.add_listener
            self.remove_listener = self._apart.remove_listener

        async def __aexit__(self, *cause: object) -> None:
            await super().__aexit__(*cause)
            await self._apart.__aexit__(*cause)

    async with (
        await psycopg.AsyncConnection.connect(url, autocommit=True) as connection,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as listening,
    ):
        return await _pgqueuer(ListeningApart(connection, listening), count, batch=slots)


async def pgqueuer_asyncpg(url: str, count: int, slots: int) -> float:
    """Take as many jobs at once as others have slots."""
    return await _pgqueuer_on_asyncpg(url, count, batch=slots)


async def pgqueuer_asyncpg_unbounded(url: str, count: int, slots: int) -> float:
    """Take all jobs at once, however many there are."""
    return await _pgqueuer_on_asyncpg(url, count, batch=max(count, slots))


async def _pgqueuer_on_asyncpg(url: str, count: int, *, batch: int) -> float:
    import asyncpg  # type: ignore[import-not-found]  # in the peers' environment only
    from pgqueuer.db import AsyncpgDriver  # in the peers' environment only

    connection = await asyncpg.connect(url)
    try:
        return await _pgqueuer(AsyncpgDriver(connection), count, batch=batch)
    finally:
        await connection.close()


async def _pgqueuer(driver: Any, count: int, *, batch: int) -> float:
    """Let one manager drain the queue; the clock stops when the last end has been logged."""
    from pgqueuer import PgQueuer  # type: ignore[import-not-found]  # in the peers' environment only
    from pgqueuer.models import Job  # type: ignore[import-not-found]  # in the peers' environment only
    from pgqueuer.queries import Queries  # type: ignore[import-not-found]  # in the peers' environment only
    from pgqueuer.types import QueueExecutionMode  # type: ignore[import-not-found]  # in the peers' environment only

    logged_at = 0.0

    class TellingQueries(Queries):  # type: ignore[misc]  # as above
        async def log_jobs(self, *arguments: Any, **named: Any) -> None:
            nonlocal logged_at
            await super().log_jobs(*arguments, **named)
            logged_at = perf_counter()

    queries = TellingQueries(driver)
    queuer = PgQueuer(driver, queries=queries)
    if not await queries.has_table("pgqueuer"):
        await queries.install()

    @queuer.entrypoint("bench")  # type: ignore[untyped-decorator]
    async def bench(_job: Job) -> None: ...

    await queries.enqueue(["bench"] * count, [None] * count, [0] * count)
    start = perf_counter()
    await queuer.qm.run(batch_size=batch, dequeue_timeout=timedelta(seconds=1), mode=QueueExecutionMode.drain)
    return count / (logged_at - start)


ENGINES: dict[str, Measure] = {
    "DBOS, started": dbos_started,
    "DBOS, called": dbos_called,
    "Absurd": absurd,
    "Procrastinate": procrastinate,
    "Procrastinate's starts": procrastinate_starts,
    "PgQueuer on psycopg": pgqueuer_psycopg,
    "PgQueuer on psycopg, listening apart": pgqueuer_psycopg_listening_apart,
    "PgQueuer on asyncpg": pgqueuer_asyncpg,
    "PgQueuer on asyncpg, unbounded": pgqueuer_asyncpg_unbounded,
}


async def answer_questions() -> None:
    """Answer each question in one event loop, which DBOS wants to live in."""
    for line in iter(sys.stdin.readline, ""):
        question = json.loads(line)
        measure = ENGINES[question["engine"]]
        found = await measure(question["url"], question["count"], question["slots"])
        print(json.dumps(found), flush=True)


# A loop that is faster than the standard one serves all of them alike; PgQueuer and asyncpg recommend it.
with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
    runner.run(answer_questions())
