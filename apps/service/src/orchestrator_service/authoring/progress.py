"""How far a long command has come, shown to people and to nobody else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import field, frozen
from rich.console import Console
from rich.progress import Progress, TaskID


@frozen(kw_only=True)
class ProgressBar:
    """A bar on the terminal, or nothing where there is none; what is told to nothing is forgotten."""

    _on: tuple[Progress, TaskID] | None = field(default=None, repr=False)

    @property
    def shown(self) -> bool:
        return self._on is not None

    def expect(self, total: int) -> None:
        if self._on is not None:
            progress, task = self._on
            progress.update(task, total=total)

    def reach(self, done: int) -> None:
        if self._on is not None:
            progress, task = self._on
            progress.update(task, completed=done)

    def advance(self) -> None:
        if self._on is not None:
            progress, task = self._on
            progress.advance(task)


@contextmanager
def progress_bar(title: str) -> Iterator[ProgressBar]:
    """Give a bar that moves while the block runs and vanishes at its end; silent unless stderr is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield ProgressBar()
        return
    with Progress(console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as progress:
        yield ProgressBar(on=(progress, progress.add_task(title, total=None)))
