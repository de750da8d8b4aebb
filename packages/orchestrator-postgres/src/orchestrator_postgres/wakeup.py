"""Hints by LISTEN and NOTIFY, each on a connection of its own, outside of every transaction."""

import asyncio
from asyncio import CancelledError, Event, Task
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Self

from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_postgres.engine import ConnectionSettings, connect

CHANNEL = "orchestrator_due"
_LISTEN = f"LISTEN {CHANNEL}".encode()
_NOTIFY = f"NOTIFY {CHANNEL}".encode()
# Of the event loop: the poll ends, the claiming begins, its statement leaves; and one to spare.
_TURNS_UNTIL_CLAIMED = 4
_RECONNECT_SECONDS_MIN = 0.1
_RECONNECT_SECONDS_MAX = 10.0


def _ignored(_: str) -> None:
    pass


class PostgresWakeup(Wakeup):
    """Pass hints through PostgreSQL.

    To be started and closed on the event loop that uses it. A hint that is given here wakes whoever waits here at once,
    where it `listens`; others hear of it from the server. Hints given while one is on its way are sent as one. A
    broken connection is made anew in the background; what was hinted meanwhile may be lost. `disturbed` is told each
    time what kind of fault broke it: an SQLSTATE or the name of an exception's type. It returns at once.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        *,
        listens: bool = True,
        disturbed: Callable[[str], None] = _ignored,
    ) -> None:
        self._settings = settings
        self._disturbed = disturbed
        self._listens = listens
        self._to_send = Event()
        self._woken = Event()
        self._sender_id: int | None = None
        self._tasks: list[Task[None]] = []

    async def start(self) -> None:
        """Begin to send hints and, where `listens`, to receive them."""
        self._tasks.append(asyncio.create_task(self._kept_up(self._send), name="wakeup-sender"))
        if self._listens:
            self._tasks.append(asyncio.create_task(self._kept_up(self._listen), name="wakeup-listener"))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(CancelledError):
                await task
        self._tasks.clear()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def hint(self) -> None:
        if self._listens:
            self._woken.set()
        self._to_send.set()

    async def wait(self, *, timeout_seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_seconds):
                await self._woken.wait()
        self._woken.clear()

    async def _send(self) -> None:
        async with await connect(self._settings) as connection:
            self._sender_id = connection.info.backend_pid
            while True:
                await self._to_send.wait()
                await self._waiter_goes_first()
                self._to_send.clear()
                await connection.execute(_NOTIFY)

    async def _waiter_goes_first(self) -> None:
        """Let whoever was woken here send its claim, which mustn't wait until others have been told."""
        if self._listens:
            for _ in range(_TURNS_UNTIL_CLAIMED):
                await asyncio.sleep(0)

    async def _listen(self) -> None:
        async with await connect(self._settings) as connection:
            await connection.execute(_LISTEN)
            # Whatever was hinted before this moment may have been missed.
            self._woken.set()
            async for notification in connection.notifies():
                # What was hinted here has woken its waiter already.
                if notification.pid != self._sender_id:
                    self._woken.set()

    async def _kept_up(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do work that never ends again after each broken connection, waiting longer while it keeps breaking."""
        seconds = _RECONNECT_SECONDS_MIN
        loop = asyncio.get_running_loop()
        while True:
            started = loop.time()
            try:
                await work()
            except Exception as fault:  # noqa: BLE001 - hints may be lost, those who send and hear them may not
                self._disturbed(getattr(fault, "sqlstate", None) or type(fault).__name__)
            held_seconds = loop.time() - started
            seconds = (
                _RECONNECT_SECONDS_MIN if held_seconds > seconds else min(seconds * 2, _RECONNECT_SECONDS_MAX)
            )
            await asyncio.sleep(seconds)
