"""Writes of concurrent runs, brought together: what is ready at one moment shares a transaction and its commit.

The next batch leaves when the last has returned, or before it has once many writes are waiting, so nothing waits for a
timer, and one write that comes alone leaves at once. What a batch can't settle goes alone, on connections of its own: a
row that somebody holds keeps nobody else waiting, and a row that makes a batch fail fails alone.
"""

import asyncio
from asyncio import Future, Task
from collections.abc import Sequence

from attrs import frozen

from orchestrator_domain.identifiers import ExecutionId
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.fault_translation import TransientFault, translated_faults, unavailable
from orchestrator_postgres.fenced_write import FencedWrite
from orchestrator_postgres.kept_connections import KeptConnections
from orchestrator_postgres.lost_commit import was_carried_out
from orchestrator_postgres.write_batch import Answer, Settled, carry_out_alone, carry_out_together

_BATCH_MAX = 200
# While one batch is with the server, the runs of another compute, and those of a third wait for neither. What is less than
# this waits for a batch to return: its share of a transaction would cost more than the waiting.
_UNDER_WAY_MAX = 2
_WORTH_A_SECOND = 8


@frozen(kw_only=True, eq=False)
class _Waiting:
    """A write and whoever awaits its answer; a run that was cancelled awaits none."""

    write: FencedWrite
    answered: Future[None]

    def settle(self, answer: Answer | BaseException) -> None:
        if self.answered.done():
            return
        if isinstance(answer, BaseException):
            self.answered.set_exception(answer)
        else:
            self.answered.set_result(None)


class WriteLane:
    """Carry out writes, batch after batch, on the event loop that calls it.

    A write whose run is cancelled before its batch has left is not sent; one that is on its way comes to its end.
    """

    def __init__(self, *, together: KeptConnections, alone: KeptConnections, closing_seconds: float) -> None:
        self._together = together
        self._alone = alone
        self._closing_seconds = closing_seconds
        self._waiting: list[_Waiting] = []
        self._sending: set[Task[None]] = set()
        self._going_alone: set[Task[None]] = set()

    async def carry_out(self, write: FencedWrite) -> None:
        """Return once it is committed; raise what kept it from being so, and then nothing of it is stored."""
        waiting = _Waiting(write=write, answered=asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if not self._sending or (
            len(self._sending) < _UNDER_WAY_MAX and len(self._waiting) >= _WORTH_A_SECOND
        ):
            sending = asyncio.create_task(self._send_until_empty(), name="writes of runs")
            self._sending.add(sending)
            # One that was cancelled before it began has not said so itself.
            sending.add_done_callback(self._came_to_its_end)
        await waiting.answered

    async def close(self) -> None:
        """Let what is on its way arrive, for a while.

        Whoever awaits what doesn't is told StorageUnavailable: its outcome is unknown, and the lease's end settles it.
        """
        under_way = {*self._going_alone, *self._sending}
        if not under_way:
            return
        _, late = await asyncio.wait(under_way, timeout=self._closing_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _send_until_empty(self) -> None:
        try:
            while batch := self._next_batch():
                await self._send(batch)
                # Those who have just been answered bring what they want written next, so that it goes together.
                await asyncio.sleep(0)
        finally:
            self._came_to_its_end(asyncio.current_task())

    def _came_to_its_end(self, sending: Task[None] | None) -> None:
        if sending is not None:
            self._sending.discard(sending)
        if not self._sending:
            # Empty, unless all who sent were cancelled or met a fault that nobody expected.
            _give_up(self._waiting)

    def _next_batch(self) -> Sequence[_Waiting]:
        """Take what is waiting, at most one write of an execution: a second one rests on what the first leaves.

        Where the first is under way in another batch, its fence and what it was computed from refuse what comes too late.
        """
        batch: dict[ExecutionId, _Waiting] = {}
        left: list[_Waiting] = []
        for waiting in self._waiting:
            if waiting.answered.done():
                continue
            execution_id = waiting.write.fence.execution_id
            if len(batch) < _BATCH_MAX and execution_id not in batch:
                batch[execution_id] = waiting
            else:
                left.append(waiting)
        self._waiting = left
        return list(batch.values())

    async def _send(self, batch: Sequence[_Waiting]) -> None:
        try:
            answers = await self._answers(batch)
        except TransientFault:
            # The answer to its COMMIT may be what was lost.
            self._send_alone(batch, perhaps_written=True)
        except Exception as error:  # noqa: BLE001 - whose fault it is shows when each is tried alone
            self._settle_failed(batch, error)
        except asyncio.CancelledError:
            _give_up(batch)
            raise
        else:
            for waiting, answer in zip(batch, answers, strict=True):
                if answer is not Settled.BUSY:
                    waiting.settle(answer)
            busy = [one for one, answer in zip(batch, answers, strict=True) if answer is Settled.BUSY]
            self._send_alone(busy, perhaps_written=False)

    async def _answers(self, batch: Sequence[_Waiting]) -> Sequence[Answer]:
        with translated_faults():
            async with self._together.lend() as connection:
                return await carry_out_together(connection, [waiting.write for waiting in batch])

    def _settle_failed(self, batch: Sequence[_Waiting], error: Exception) -> None:
        if len(batch) == 1:
            batch[0].settle(error)
        else:
            self._send_alone(batch, perhaps_written=False)

    def _send_alone(self, batch: Sequence[_Waiting], *, perhaps_written: bool) -> None:
        for waiting in batch:
            task = asyncio.create_task(self._carry_out_alone(waiting, perhaps_written=perhaps_written))
            self._going_alone.add(task)
            task.add_done_callback(self._going_alone.discard)

    async def _carry_out_alone(self, waiting: _Waiting, *, perhaps_written: bool) -> None:
        async def attempt(number: int) -> None:
            async with self._alone.lend() as connection:
                if (number > 1 or perhaps_written) and await was_carried_out(connection, waiting.write):
                    return
                await carry_out_alone(connection, waiting.write)

        try:
            await retried(attempt)
        except Exception as error:  # noqa: BLE001 - whoever awaits the write is told
            waiting.settle(error)
        except asyncio.CancelledError:
            _give_up([waiting])
            raise
        else:
            waiting.settle(Settled.WRITTEN)


def _give_up(writes: Sequence[_Waiting]) -> None:
    for waiting in writes:
        waiting.settle(unavailable())
