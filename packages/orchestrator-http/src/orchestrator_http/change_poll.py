"""Waiting for changes: however many wait in this process, one question a round is asked for all of them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final
from uuid import UUID

from attrs import define, field, frozen

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.identifiers import ExecutionId, RequestId
from orchestrator_domain.ports.change_marks import ChangeMarks

INTERVAL_SECONDS: Final = 0.25
WAITERS_MAX: Final = 1000


@frozen
class WatchedRequest:
    id: RequestId


@frozen
class WatchedExecution:
    id: ExecutionId


type Watched = WatchedRequest | WatchedExecution


@define(kw_only=True)
class ChangePoll:
    """Share one poll among all waiters; it runs only while somebody waits.

    `draining` ends every wait, so that a process that shuts down answers at once. Waiters beyond `waiters_max` aren't
    taken. A round that the store doesn't answer is only a late one, and one that breaks unexpectedly is told to
    `disturbed` besides, which returns at once and raises nothing.
    """

    marks: ChangeMarks
    draining: Callable[[], bool] = lambda: False
    interval_seconds: float = INTERVAL_SECONDS
    waiters_max: int = WAITERS_MAX
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    disturbed: Callable[[Exception], None] = lambda _fault: None
    _waiting: "dict[asyncio.Future[None], tuple[Watched, str | None]]" = field(factory=dict, init=False)
    _round: "asyncio.Task[None] | None" = field(default=None, init=False)

    @property
    def takes_more(self) -> bool:
        return len(self._waiting) < self.waiters_max and not self.draining()

    async def mark(self, watched: Watched) -> str | None:
        """Return the present mark, to be handed to `changed` after the resource has been read."""
        return (await self._marks([watched])).get(watched.id)

    async def changed(self, watched: Watched, mark: str | None, *, timeout_seconds: float) -> None:
        """Return when the resource has another mark, when the time is over, or when the process drains."""
        change = asyncio.get_running_loop().create_future()
        self._waiting[change] = (watched, mark)
        if self._round is None or self._round.done():
            self._round = asyncio.create_task(self._poll())
        try:
            await asyncio.wait([change], timeout=timeout_seconds)
        finally:
            self._waiting.pop(change, None)

    async def _poll(self) -> None:
        while self._waiting:
            await self.pause(self.interval_seconds)
            if self.draining():
                self._end(list(self._waiting))
                return
            try:
                await self._look()
            except OrchestratorError:
                continue
            except Exception as fault:  # noqa: BLE001 - all waiters stand or fall with this task
                self.disturbed(fault)

    async def _look(self) -> None:
        asked = dict(self._waiting)
        now = await self._marks([watched for watched, _ in asked.values()])
        self._end([change for change, (watched, mark) in asked.items() if now.get(watched.id) != mark])

    async def _marks(self, watched: "list[Watched]") -> dict[UUID, str]:
        requests = {each.id for each in watched if isinstance(each, WatchedRequest)}
        executions = {each.id for each in watched if isinstance(each, WatchedExecution)}
        return dict(await self.marks.marks(requests, executions))

    def _end(self, changes: "list[asyncio.Future[None]]") -> None:
        for change in changes:
            self._waiting.pop(change, None)
            if not change.done():
                change.set_result(None)
