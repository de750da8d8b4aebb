"""Events brought together: those that are ready at one moment are judged in one transaction and share its commit.

The next batch leaves when the last has returned, so nothing waits for a timer, and an event that comes alone leaves at
once. What a batch can't settle goes alone, in the task of whoever sent it: a request that somebody holds keeps nobody
else waiting, and an event that makes a batch fail fails alone. So does whoever has waited too long, for a server that
takes what it is sent and never answers would else keep every later event of the process behind that one batch.
"""

import asyncio
from asyncio import Future, Task
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context

from attrs import frozen

from orchestrator_domain.identifiers import RequestId
from orchestrator_domain.ports.event_judgement import AddressedEvent, AnsweredEvent, Judge
from orchestrator_postgres.acceptance_batch import Answer, Unsettled, judge_together
from orchestrator_postgres.engine import PostgresEngine
from orchestrator_postgres.fault_translation import TransientFault, translated_faults

_BATCH_MAX = 100
# A little longer than a connection is waited for: where there is none, nobody has to find that out twice.
PATIENCE_SECONDS = 6.0


@frozen(kw_only=True, eq=False)
class _Waiting:
    """An event and whoever awaits its answer; a sender that was cancelled or has lost patience awaits none."""

    event: AddressedEvent
    judge: Judge
    answered: Future[AnsweredEvent | Unsettled]

    def settle(self, answer: Answer) -> None:
        if self.answered.done():
            return
        if isinstance(answer, Exception):
            self.answered.set_exception(answer)
        else:
            self.answered.set_result(answer)


class AcceptanceLane:
    """Settle events, batch after batch, on the event loop that calls it.

    `alone` judges one event in a transaction of its own, and knows what an earlier one has stored of it. It is asked too
    where a batch has not answered in `patience_seconds`, whether the event has left with it or not.
    """

    def __init__(
        self,
        engine: PostgresEngine,
        *,
        alone: Callable[[AddressedEvent, Judge], Awaitable[AnsweredEvent]],
        patience_seconds: float,
    ) -> None:
        self._engine = engine
        self._alone = alone
        self._patience_seconds = patience_seconds
        self._waiting: list[_Waiting] = []
        self._sending: Task[None] | None = None

    async def settle(self, event: AddressedEvent, judge: Judge) -> AnsweredEvent:
        """Return the event's answer once it is committed; raise what kept it from being accepted."""
        waiting = _Waiting(event=event, judge=judge, answered=asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if self._sending is None:
            # In no context, since it goes on for others than the one that began it.
            self._sending = asyncio.create_task(
                self._send_until_empty(), name="acceptances", context=Context()
            )
        answer = await self._in_time(waiting)
        return await self._alone(event, judge) if isinstance(answer, Unsettled) else answer

    async def _in_time(self, waiting: _Waiting) -> AnsweredEvent | Unsettled:
        try:
            async with asyncio.timeout(self._patience_seconds):
                return await waiting.answered
        except TimeoutError:
            # It may have left with a batch; if it hasn't, nobody else takes it out while that batch hangs.
            if waiting in self._waiting:
                self._waiting.remove(waiting)
            return Unsettled.LATE

    async def _send_until_empty(self) -> None:
        try:
            while batch := self._next_batch():
                await self._send(batch)
                # Those who are ready at this moment are to go together.
                await asyncio.sleep(0)
        finally:
            self._sending = None
            # Nobody, unless this was cancelled.
            _leave_alone(self._waiting)

    def _next_batch(self) -> Sequence[_Waiting]:
        """Take what is waiting, at most one event of a request: the next is judged on what this one leaves."""
        batch: dict[RequestId, _Waiting] = {}
        left: list[_Waiting] = []
        for waiting in self._waiting:
            if waiting.answered.done():
                continue
            if len(batch) < _BATCH_MAX and waiting.event.request_id not in batch:
                batch[waiting.event.request_id] = waiting
            else:
                left.append(waiting)
        self._waiting = left
        return list(batch.values())

    async def _send(self, batch: Sequence[_Waiting]) -> None:
        try:
            answers = await self._answers(batch)
        except asyncio.CancelledError:
            _leave_alone(batch)
            raise
        except TransientFault:
            # The answer to its COMMIT may be what was lost: judged again, each finds what was stored of it.
            _leave_alone(batch)
        except Exception as error:  # noqa: BLE001 - whose fault it is shows when each is judged alone
            if len(batch) == 1:
                batch[0].settle(error)
            else:
                _leave_alone(batch)
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                waiting.settle(answer)

    async def _answers(self, batch: Sequence[_Waiting]) -> Sequence[Answer]:
        with translated_faults():
            async with self._engine.connection_by_key() as connection:
                return await judge_together(connection, [(one.event, one.judge) for one in batch])


def _leave_alone(events: Sequence[_Waiting]) -> None:
    for waiting in events:
        waiting.settle(Unsettled.BUSY)
