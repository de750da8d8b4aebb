"""What scripts send, brought together: the next batch leaves when the last one has returned."""

import asyncio
from asyncio import Future, Task
from collections.abc import Awaitable, Callable, Sequence

from attrs import define, field


@define(eq=False)
class ScriptLane[Item]:
    """Send items in batches and let whoever brought one wait for the commit of its batch."""

    _send: Callable[[Sequence[Item]], Awaitable[None]]
    _waiting: list[tuple[Item, Future[None]]] = field(factory=list, init=False)
    _sending: Task[None] | None = field(default=None, init=False)

    async def bring(self, item: Item) -> None:
        committed: Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, committed))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_until_empty())
        await committed

    async def _send_until_empty(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._send([item for item, _ in batch])
            except BaseException as fault:
                for _, committed in batch:
                    committed.set_exception(fault)
                raise
            for _, committed in batch:
                committed.set_result(None)
            # Those who have just been answered bring what comes next, so that it goes together.
            await asyncio.sleep(0)
        self._sending = None
