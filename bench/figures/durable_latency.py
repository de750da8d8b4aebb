"""From the commit of an acceptance to the start of its first handler, on an idle system."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache, partial
from time import perf_counter

from bench.durable_flow import CLERK
from bench.durable_server import empty_database, migrated_database
from bench.durable_work import NoOp, durable_work, go
from bench.event_loop import run
from bench.figure import Figure, Measured, RatioAtMost
from bench.peers import PeerProcess
from bench.sample import Sample, quantile
from orchestrator_domain.ports.action_handler import ActionContext

_EVENTS = 100
_POLL_MS = 500
_ROUNDS = 3


async def _starts(*, events: int, hinted: bool, pause_seconds: float) -> list[float]:
    """Return the milliseconds that each of so many events waited for its handler."""
    begun: asyncio.Queue[float] = asyncio.Queue()

    def note(_: ActionContext) -> None:
        begun.put_nowait(perf_counter())

    waits: list[float] = []
    async with (
        durable_work(migrated_database(), listens=hinted) as work,
        work.worker(slots=10, poll_ms=_POLL_MS, handler=NoOp(begun=note)),
    ):
        for request_id in await work.requests(events + 5, actions=1):
            await asyncio.sleep(pause_seconds)
            await work.accept_event(go(request_id), CLERK)
            committed = perf_counter()
            waits.append((await begun.get() - committed) * 1e3)
    # The first ones make connections and prepare statements.
    return waits[5:]


@cache
def _hinted_waits() -> Mapping[str, Sequence[Sequence[float]]]:
    """Return the waits of each round for ours and for Procrastinate's; the first round doesn't count."""
    url = empty_database().superuser_url
    question = {"engine": "Procrastinate's starts", "url": url, "count": _EVENTS, "slots": 10}
    waits: dict[str, list[Sequence[float]]] = {"ours": [], "Procrastinate": []}
    with PeerProcess("durable_engines.py") as process:
        for _ in range(_ROUNDS + 1):
            waits["ours"].append(run(_starts(events=_EVENTS, hinted=True, pause_seconds=0.02)))
            waits["Procrastinate"].append(process.ask(question))
    return {name: rounds[1:] for name, rounds in waits.items()}


def _hinted(share: float) -> Measured:
    samples = {
        name: Sample(rounds=tuple(quantile(waits, share) for waits in rounds))
        for name, rounds in _hinted_waits().items()
    }
    return Measured(value=samples["ours"], baseline=samples["Procrastinate"], baseline_name="Procrastinate")


def _hints_lost() -> Measured:
    """Take the longest wait of each round: without hints every event waits for a poll, and none for two."""
    longest = [max(run(_starts(events=15, hinted=False, pause_seconds=0.03))) for _ in range(_ROUNDS)]
    return Measured(
        value=Sample(rounds=tuple(longest)),
        baseline=Sample(rounds=(float(_POLL_MS),) * _ROUNDS),
        baseline_name="poll interval",
    )


FIGURES = (
    Figure(name="durable-start-hinted", unit="ms", target=RatioAtMost(2), measure=partial(_hinted, 0.5)),
    Figure(
        name="durable-start-hinted-p95",
        unit="ms",
        target=RatioAtMost(3),
        measure=partial(_hinted, 0.95),
    ),
    Figure(name="durable-start-hints-lost", unit="ms", target=RatioAtMost(1.2), measure=_hints_lost),
)
