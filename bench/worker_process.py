"""A worker in a process of its own: it begins at a line on standard input, answers further ones, and ends with them."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self

from attrs import frozen

from bench.durable_server import BenchDatabase
from bench.durable_work import NoOp, durable_work
from bench.event_loop import run
from bench.resident_memory import resident_mib

_PATIENCE_SECONDS = 900.0
_LOOK_SECONDS = 0.1


@frozen(kw_only=True)
class WorkerSaid:
    """How many executions the worker has ended, and how much memory is resident, in MiB."""

    ended: int
    resident_mib: float


class WorkerProcess:
    """Start a worker that waits for `begin`; use it as a context manager."""

    def __init__(self, database: BenchDatabase, *, slots: int, handler_seconds: float = 0.0) -> None:
        command = [sys.executable, "-m", __name__, database.superuser_url, str(slots), str(handler_seconds)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ready(self) -> None:
        """Wait until it has imported and opened what it needs."""
        self._answer()

    def begin(self) -> None:
        self._ask("begin")

    def said(self) -> WorkerSaid:
        """Ask how far it is; raise RuntimeError if anything went wrong in it."""
        told = self._ask("tell")
        if told["faults"]:
            raise RuntimeError(f"the worker was disturbed: {told['faults'][0]}")
        return WorkerSaid(ended=told["ended"], resident_mib=resident_mib(self._process.pid))

    def _ask(self, question: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("a worker's process ended; what it printed says why")
        return json.loads(answer)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _fault: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()


def await_ended(workers: Sequence[WorkerProcess], count: int) -> None:
    """Ask until all of them together have ended so many executions."""
    deadline = monotonic() + _PATIENCE_SECONDS
    while sum(worker.said().ended for worker in workers) < count:
        if monotonic() > deadline:
            raise TimeoutError(f"{count} executions did not end in time")
        sleep(_LOOK_SECONDS)


async def _work(database: BenchDatabase, *, slots: int, handler_seconds: float) -> None:
    async with durable_work(database) as work:
        await _asked()
        async with work.worker(slots=slots, handler=NoOp(seconds=handler_seconds)):
            _say(begun=True)
            while await asyncio.to_thread(sys.stdin.readline):
                _say(ended=work.observer.ended, faults=work.observer.faults)


async def _asked() -> None:
    _say(ready=True)
    await asyncio.to_thread(sys.stdin.readline)


def _say(**told: object) -> None:
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    run(
        _work(
            BenchDatabase(superuser_url=sys.argv[1]),
            slots=int(sys.argv[2]),
            handler_seconds=float(sys.argv[3]),
        )
    )
