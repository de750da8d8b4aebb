"""One seed: a world in which anything may happen between two steps, and in the end nothing more does."""

from collections.abc import Coroutine
from typing import Any

from attrs import define, field
from tests.simulation.chances import Chances
from tests.simulation.promises import Violation
from tests.simulation.stepping import ProcessEnded, RunCancelled, Task, advanced
from tests.simulation.world import API, World

_STEPS_OF_TROUBLE = 220
_STEPS_TO_REST_MAX = 3000
_PAST_A_LEASE = 61.0
_PAST_KEYS = 750.0
_DISTURBANCES = (*("crash", "pause", "lease") * 4, "keys", "move")


@define(eq=False)
class Simulation:
    """Step the tasks of a world, one at a time, and let faults happen in between."""

    world: World
    chances: Chances
    trace: list[str] | None = None
    _tasks: list[Task] = field(factory=list)
    _paused: set[str] = field(factory=set)
    _thrown: dict[Task, BaseException] = field(factory=dict)

    async def run(self) -> None:
        """Raise Violation as soon as a promise is broken."""
        await self.world.begin(self.spawn, self.cancel)
        for _ in range(_STEPS_OF_TROUBLE):
            await self._step_in_trouble()
        self._tell("From here on nothing goes wrong any more.")
        self.chances.quiet = True
        self._paused.clear()
        await self._come_to_rest()
        self.world.witness.look_at_the_end()

    def spawn(self, name: str, process: str, story: Coroutine[Any, Any, None]) -> Task:
        task = Task(name, process, story)
        self._tasks.append(task)
        return task

    def cancel(self, task: Task) -> None:
        """Throw RunCancelled into a run when it is next resumed."""
        self._thrown[task] = RunCancelled()

    def end(self) -> None:
        """Let go of whatever is still paused."""
        for task in self._tasks:
            task.story.close()
        self._tasks.clear()

    async def _step_in_trouble(self) -> None:
        chances, trouble = self.chances, self.world.trouble
        if chances.fault(trouble / 5):
            await self._disturb()
        elif chances.happens(0.08):
            await self._advance(chances.one_of((0.5, 3.0, 10.0)))
        else:
            await self._advance_someone()

    async def _disturb(self) -> None:
        match self.chances.one_of(_DISTURBANCES):
            case "crash":
                self._crash(self.chances.one_of(self.world.processes()))
            case "pause":
                self._pause_or_resume(self.chances.one_of(self.world.processes()))
            case "lease":
                await self._advance(_PAST_A_LEASE)
            case "keys":
                await self._advance(_PAST_KEYS)
            case _:
                await self._move_by_hand()

    async def _advance_someone(self) -> None:
        ready = [task for task in self._tasks if task.ready and task.process not in self._paused]
        busy = [task for task in ready if task.at is None or not task.at.idle]
        idle = [task for task in ready if task.at is not None and task.at.idle]
        calls = self.world.providers.on_their_way
        if calls and self.chances.happens(0.3):
            await self._arrive()
        elif busy and (not idle or self.chances.happens(0.9)):
            await self._advance_task(self.chances.one_of(busy))
        elif idle:
            await self._advance_task(self.chances.one_of(idle))

    async def _advance_task(self, task: Task) -> None:
        thrown = self._thrown.pop(task, None) or self._loss(task)
        if self.trace is not None:
            self._tell(
                f"{task.name}: goes on {task.at.label if task.at else 'at its beginning'}{_told(thrown)}"
            )
        await self._resume(task, thrown)

    def _loss(self, task: Task) -> BaseException | None:
        if task.at is None or task.at.loses is None or not self.chances.fault(self.world.trouble / 4):
            return None
        return task.at.loses()

    async def _resume(self, task: Task, thrown: BaseException | None) -> None:
        if not await advanced(task, thrown):
            self._tasks.remove(task)
            self._thrown.pop(task, None)
        await self.world.look()

    async def _arrive(self) -> None:
        call = self.chances.one_of(self.world.providers.on_their_way)
        effect = "with" if call.has_effect else "without"
        self._tell(f"The call of {call.name} arrives {effect} an effect, to be answered {call.answer}")
        self.world.providers.arrive(call)

    async def _advance(self, seconds: float) -> None:
        self._tell(f"{seconds} seconds pass")
        await self.world.advance(seconds)

    async def _move_by_hand(self) -> None:
        self._tell("Someone changes a request by hand")
        await self.world.move_by_hand()

    def _pause_or_resume(self, process: str) -> None:
        self._tell(f"{process} is stopped, or goes on if it was")
        self._paused ^= {process}

    def _crash(self, process: str) -> None:
        self._tell(f"{process} dies")
        if process == API:
            inside = [task for task in self._tasks if task.process == API and task.at and task.at.in_process]
            self._thrown.update((task, ProcessEnded()) for task in inside)
            return
        for task in [task for task in self._tasks if task.process == process]:
            self._tasks.remove(task)
            self._thrown.pop(task, None)
            task.story.close()
        self._paused.discard(process)
        self.world.restart(process)

    async def _come_to_rest(self) -> None:
        for _ in range(_STEPS_TO_REST_MAX):
            busy = [task for task in self._tasks if task.ready and not (task.at and task.at.idle)]
            if busy:
                await self._advance_task(self.chances.one_of(busy))
            elif self.world.providers.on_their_way:
                await self._arrive()
            elif self._everyone_waits_for_nothing():
                await self._give_up_waiting()
            elif not await self._advance_to_what_is_next():
                return
        raise Violation("The world didn't come to rest.")

    def _everyone_waits_for_nothing(self) -> bool:
        return any(not task.ready for task in self._tasks)

    async def _give_up_waiting(self) -> None:
        task = next(task for task in self._tasks if not task.ready)
        assert task.at is not None, "a task that waits is at a pause"
        assert task.at.loses is not None, "who waits for an answer gives up in the end"
        self._tell(f"{task.name}: gives up {task.at.label}")
        await self._resume(task, task.at.loses())

    async def _advance_to_what_is_next(self) -> bool:
        """Poll once something is due; return False if nothing ever will be."""
        seconds = self.world.seconds_until_next()
        if seconds is None:
            return False
        if seconds > 0:
            await self._advance(seconds)
        for task in [task for task in self._tasks if task.name.endswith(("claims", "looks"))]:
            await self._advance_task(task)
        return True

    def _tell(self, what: str) -> None:
        if self.trace is not None:
            self.trace.append(f"{self.world.witness.now:%H:%M:%S}  {what}")


def _told(thrown: BaseException | None) -> str:
    return "" if thrown is None else f", and gets {type(thrown).__name__}"
