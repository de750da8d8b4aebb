"""Coroutines that stop where the scheduler may do something to them, and go on when it says so.

Inside a simulation nothing waits for real: a coroutine yields a Pause, and whoever drives it resumes it there, throws
something in, or never comes back. Over a real database the rest of what is awaited goes up to the event loop.
"""

from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any

from attrs import define, frozen


class ProcessEnded(BaseException):
    """The process of this coroutine is gone: nothing may catch it and save a result."""


class RunCancelled(BaseException):
    """The worker has learnt that the lease of this run is lost."""


@frozen
class Pause:
    """A place where anything may happen. `loses` is thrown by a fault: the call, or its answer, got lost.

    `idle` marks a wait for the next poll, `in_process` what ends with its process.
    """

    label: str
    loses: type[Exception] | None = None
    idle: bool = False
    in_process: bool = True
    awaits: "Answerable | None" = None


class Answerable:
    """Something that a paused coroutine waits for."""

    answered = False


@define(eq=False)
class Task:
    """A coroutine of one process, and where it stands."""

    name: str
    process: str
    story: Coroutine[Any, Any, None]
    at: Pause | None = None

    @property
    def ready(self) -> bool:
        waited_for = None if self.at is None else self.at.awaits
        return waited_for is None or waited_for.answered


@coroutine
def pause(at: Pause) -> Generator[Pause, None, None]:
    """Stop here until the scheduler resumes this coroutine."""
    yield at


@coroutine
def advanced(task: Task, thrown: BaseException | None = None) -> Generator[Any, Any, bool]:
    """Drive the task to its next Pause; return False once it has ended.

    Whatever else it yields belongs to the event loop around the simulation, if there is one.
    """
    try:
        yielded = task.story.send(None) if thrown is None else task.story.throw(thrown)
        while not isinstance(yielded, Pause):
            try:
                sent = yield yielded
            except BaseException as failure:  # noqa: BLE001 - it belongs to whoever awaits what failed
                yielded = task.story.throw(failure)
            else:
                yielded = task.story.send(sent)
    except (StopIteration, RunCancelled):
        return False
    task.at = yielded
    return True


def run_synchronously[Result](story: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that awaits nothing from outside."""
    try:
        story.send(None)
    except StopIteration as ended:
        result: Result = ended.value
        return result
    raise AssertionError("A simulation in memory never waits.")
