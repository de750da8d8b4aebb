"""Show how the demonstration goes: as a table for people, or as JSON lines for programs."""

import json
import sys
from typing import Any, Protocol

from attrs import frozen
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PLAIN_WIDTH = 130


@frozen(kw_only=True)
class StepReport:
    """What a step came to."""

    name: str
    expected: tuple[str, ...]
    seen: str
    seconds: float

    @property
    def agrees(self) -> bool:
        return self.seen in self.expected


class Report(Protocol):
    """Tell the progress; `end` comes last and once."""

    def begin(self, what: str) -> None:
        """Say what is being done now."""

    def step(self, report: StepReport) -> None:
        """Say what a step came to."""

    def end(self, reports: list[StepReport], seconds: float) -> None:
        """Say what all of it came to."""


class TableReport:
    """Lines as it goes, with a spinner on a terminal, and a table at the end."""

    def __init__(self) -> None:
        width = None if sys.stdout.isatty() else PLAIN_WIDTH
        self._console = Console(width=width, highlight=False)
        self._status = self._console.status("") if sys.stdout.isatty() else None

    def begin(self, what: str) -> None:
        if self._status is None:
            self._say(f"... {what}")
        else:
            self._status.update(Text(what))
            self._status.start()

    def step(self, report: StepReport) -> None:
        line = Text("ok     " if report.agrees else "FAILED ", style="green" if report.agrees else "bold red")
        line.append(f"{report.name}: {report.seen} ({report.seconds:.1f} s)", style="default")
        self._console.print(line)

    def end(self, reports: list[StepReport], seconds: float) -> None:
        if self._status is not None:
            self._status.stop()
        self._console.print(_table(reports))
        failed = sum(not report.agrees for report in reports)
        verdict = (
            f"All {len(reports)} steps went as expected"
            if failed == 0
            else f"{failed} of {len(reports)} steps failed"
        )
        self._say(f"{verdict}, in {seconds:.1f} s.")

    def _say(self, line: str) -> None:
        self._console.print(Text(line))


class JsonReport:
    """One JSON object a line, each with its `kind`: progress, step, end."""

    def begin(self, what: str) -> None:
        _write({"kind": "progress", "message": what})

    def step(self, report: StepReport) -> None:
        _write(
            {
                "kind": "step",
                "step": report.name,
                "expected": " or ".join(report.expected),
                "seen": report.seen,
                "ok": report.agrees,
                "seconds": round(report.seconds, 3),
            }
        )

    def end(self, reports: list[StepReport], seconds: float) -> None:
        failed = sum(not report.agrees for report in reports)
        _write({"kind": "end", "steps": len(reports), "failed": failed, "seconds": round(seconds, 3)})


def _table(reports: list[StepReport]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("step", "expected", "seen", ""):
        table.add_column(heading, overflow="fold")
    for report in reports:
        verdict = Text("ok", style="green") if report.agrees else Text("FAILED", style="bold red")
        table.add_row(Text(report.name), Text(" or ".join(report.expected)), Text(report.seen), verdict)
    return table


def _write(line: dict[str, Any]) -> None:
    print(json.dumps(line, ensure_ascii=False), flush=True)
