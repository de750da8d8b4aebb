"""One decision over a file of JSON Lines, on one process or several."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, repeat
from pathlib import Path

from attrs import frozen

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.text import MalformedJson
from orchestrator_domain.simulation.json_lines import evaluate_json_lines
from orchestrator_service.deciding_processes import deciding_processes

type Part = tuple[int, int]
"""Where a part of a file begins and ends, in bytes, both at the beginning of a line."""


def decide_lines(
    definition: DecisionDefinition, path: Path, *, processes: int = 1
) -> Iterator[DecisionResult]:
    """Yield the result of each line's context, in order; empty lines are skipped.

    Each is what the evaluator gives that context alone, however many processes share the work. Raises MalformedJson
    with the number of the first line that holds no JSON object, once all results before it were yielded.
    """
    if processes == 1:
        with path.open("rb") as lines:
            yield from evaluate_json_lines(definition, lines)
        return
    before = 0
    with deciding_processes(processes) as pool:
        for packed in pool.map(_decided, repeat(definition), repeat(path), _parts(path, processes)):
            yield from packed
            if packed.malformed is not None:
                message, line, column = packed.malformed
                raise MalformedJson(message, line=before + line, column=column)
            before += packed.lines


@frozen(kw_only=True)
class Packed:
    """Results of many rows, equal ones kept once, and what ended them if not the end of the rows."""

    results: Sequence[DecisionResult]
    codes: Sequence[int]
    lines: int = 0
    malformed: tuple[str, int, int | None] | None = None

    def __iter__(self) -> Iterator[DecisionResult]:
        return map(self.results.__getitem__, self.codes)


def _decided(definition: DecisionDefinition, path: Path, part: Part) -> Packed:
    """Decide the lines of a part in a process of its own."""
    numbers: dict[DecisionResult, int] = {}
    codes: list[int] = []
    counted = _Counted(_lines(path, part))
    malformed = None
    try:
        for result in evaluate_json_lines(definition, counted):
            codes.append(numbers.setdefault(result, len(numbers)))  # noqa: PERF401 -- those before a fault are kept
    except MalformedJson as fault:
        malformed = (fault.message, fault.line or 1, fault.column)
    return Packed(results=list(numbers), codes=codes, lines=counted.count, malformed=malformed)


class _Counted:
    """Count lines while they are read."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines
        self.count = 0

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            self.count += 1
            yield line


def _lines(path: Path, part: Part) -> Iterator[bytes]:
    begin, end = part
    with path.open("rb") as file:
        file.seek(begin)
        # The file may have become shorter meanwhile.
        while file.tell() < end and (line := file.readline()):
            yield line


def _parts(path: Path, count: int) -> list[Part]:
    """Return about `count` parts of equal size that begin and end with lines."""
    size = path.stat().st_size
    with path.open("rb") as file:
        bounds = {0, size}
        for number in range(1, count):
            file.seek(size * number // count)
            file.readline()
            bounds.add(file.tell())
    return list(pairwise(sorted(bounds)))
