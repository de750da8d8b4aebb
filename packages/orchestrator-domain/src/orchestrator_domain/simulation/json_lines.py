"""One decision over lines of JSON, most of which need no more than a look at the places that it reads."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import batched, filterfalse, repeat
from typing import Final

from attrs import define, field

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.generated import GeneratedDecision, generate_decision
from orchestrator_domain.decision.outcome import DecisionResult
from orchestrator_domain.exact_json.line_shape import LineShape, Texts, line_shape
from orchestrator_domain.exact_json.lines import parse_json_line, parse_json_lines
from orchestrator_domain.exact_json.text import MalformedJson

_LINES_AT_ONCE: Final = 1024
_FEW: Final = 64
_NEARLY_ALL: Final = 0.9
_SHAPES_MAX: Final = 8
_RESULTS_MAX: Final = 50_000
# How many times lines may fit no shape for the most part before none is looked for any more.
_PATIENCE: Final = 4


def evaluate_json_lines(definition: DecisionDefinition, lines: Iterable[bytes]) -> Iterator[DecisionResult]:
    """Yield the result of each context that a line of JSON spells, in order; empty lines are skipped.

    Each is what the evaluator answers for that context alone. Raises MalformedJson with the number of the first line
    that holds no JSON object, once the results before it were yielded.
    """
    decided = _DecidedLines(generated=generate_decision(definition))
    blocks = batched(lines, _LINES_AT_ONCE)
    before = 0
    for block in blocks:
        yield from decided.results(block, before)
        before += len(block)
        if decided.patience == 0:
            break
    left = (line for block in blocks for line in block)
    yield from decided.generated.over_contexts(parse_json_lines(left, before=before))


@define(kw_only=True)
class _DecidedShape:
    """The results of lines of one shape, by the texts at the places that are read."""

    shape: LineShape
    generated: GeneratedDecision
    hits: int = 0
    _results: dict[Texts, DecisionResult] = field(factory=dict, init=False)

    def of(self, rows: Sequence[Texts]) -> Iterator[DecisionResult]:
        """Return the result of each row; rows that were seen before aren't decided again."""
        self.decide(rows)
        return map(self._results.__getitem__, rows)

    def decide(self, rows: Iterable[Texts]) -> None:
        """Have a result for each of the rows."""
        if len(self._results) > _RESULTS_MAX:
            self._results.clear()
        # The difference of a set and the dictionary's keys would walk over all keys.
        new = [*filterfalse(self._results.__contains__, set(rows))]
        self._results.update(zip(new, self.generated.over_values(self.shape.values(new)), strict=True))

    def result(self, row: Texts) -> DecisionResult:
        return self._results[row]


type _Looked = tuple[_DecidedShape, Texts] | DecisionResult
"""A line of a shape whose result is still to be found, or the result of one that had none."""


@define(kw_only=True)
class _DecidedLines:
    """Decide blocks of lines by the shapes of those before them."""

    generated: GeneratedDecision
    patience: int = _PATIENCE
    _shapes: list[_DecidedShape] = field(factory=list, init=False)

    def results(self, block: Sequence[bytes], before: int) -> Iterator[DecisionResult]:
        """Decide lines together if all have the most frequent shape, else one by one; `before` lines went before."""
        rows = self._rows(block)
        if len(rows) == len(block):
            yield from self._shapes[0].of(rows)
        elif len(block) > _FEW and len(rows) > len(block) * _NEARLY_ALL:
            # Where one line in hundreds is another, only its neighbours are looked at one by one.
            for some in batched(block, _FEW):
                yield from self.results(some, before)
                before += len(some)
        else:
            yield from self.one_by_one(block, before)

    def _rows(self, block: Sequence[bytes]) -> Sequence[Texts]:
        """Return the texts of lines of the most frequent shape, fewer than lines if one of them may have another."""
        if not self._shapes and not self._learnt_from(block[0]):
            return ()
        text = _one_text(block)
        return () if text is None else self._shapes[0].shape.of_lines(text)

    def one_by_one(self, block: Sequence[bytes], before: int) -> Iterator[DecisionResult]:
        """Decide each line by whatever shape it has, strictly if it has none; then put the most frequent one first."""
        looked: list[_Looked] = []
        fault = None
        for place, line in enumerate(block, start=before + 1):
            try:
                found = self._looked_at(line, place)
            except MalformedJson as malformed:
                fault = malformed
                break
            if found is not None:
                looked.append(found)
        yield from self._in_order(looked)
        if fault is not None:
            raise fault
        if len(block) > _FEW and sum(each.hits for each in self._shapes) < len(block) / 2:
            self.patience -= 1

    def _in_order(self, looked: Sequence[_Looked]) -> Iterator[DecisionResult]:
        rows: dict[int, list[Texts]] = {id(decided): [] for decided in self._shapes}
        for found in looked:
            if isinstance(found, tuple):
                rows[id(found[0])].append(found[1])
        for decided in self._shapes:
            decided.decide(rows[id(decided)])
            decided.hits = len(rows[id(decided)])
        self._shapes.sort(key=lambda each: each.hits, reverse=True)
        for found in looked:
            yield found[0].result(found[1]) if isinstance(found, tuple) else found

    def _learnt_from(self, line: bytes) -> bool:
        try:
            return parse_json_line(line, 1) is not None and self._learn(line)
        except MalformedJson:
            # It is told when it is this line's turn.
            return False

    def _looked_at(self, line: bytes, place: int) -> _Looked | None:
        """Return what is known of a line, None for an empty one; raise MalformedJson."""
        text = _text(line)
        for decided in () if text is None else self._shapes:
            texts = decided.shape.of_line(text or "")
            if texts is not None:
                return decided, texts
        context = parse_json_line(line, place)
        if context is None:
            return None
        if len(self._shapes) < _SHAPES_MAX:
            self._learn(line)
        return self.generated.over_context(context)

    def _learn(self, line: bytes) -> bool:
        """Keep the shape of a line that was read strictly, if it has one."""
        shape = line_shape(line.decode().removesuffix("\n"), self.generated.paths)
        if shape is not None:
            self._shapes.append(_DecidedShape(shape=shape, generated=self.generated))
        return shape is not None


def _one_text(block: Sequence[bytes]) -> str | None:
    """Return lines as one text in which each is a line; None where that can't be, or it isn't UTF-8."""
    *others, last = block
    if block[0].endswith(b"\n"):
        # A line without its end would run into the next one.
        joined = b"".join(block) if all(map(bytes.endswith, others, repeat(b"\n"))) else b""
        ends = len(others) + last.endswith(b"\n")
    else:
        joined, ends = b"\n".join(block), len(others)
    # Lines of a host's making may hold ends of lines within.
    return _decoded(joined) if joined.count(b"\n") == ends else None


def _text(line: bytes) -> str | None:
    text = _decoded(line)
    return None if text is None else text.removesuffix("\n")


def _decoded(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
