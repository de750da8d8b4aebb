"""`flow decide`: one decision of a flow over a file of rows, of any number."""

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Final, assert_never

from attrs import define, field

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
)
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.document import read_flow
from orchestrator_service.authoring.progress import ProgressBar, progress_bar
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.authoring.sound_flow import sound_document
from orchestrator_service.authoring.sources import UnusableFile
from orchestrator_service.authoring.written_lines import written_lines
from orchestrator_service.decided_rows import decided_rows, rows_expected

_ROWS_A_STEP: Final = 5000
_TEXTS_MAX: Final = 10_000


def decide(chosen: argparse.Namespace) -> int:
    """Decide each row; return 0 if each has an output, 1 if one hasn't. Raises UnusableFile."""
    definition = _decision(chosen)
    told = _Told(definition=definition)
    with written_lines(chosen.out, read=chosen.rows) as out, progress_bar(chosen.rows.name) as bar:
        if bar.shown:
            bar.expect(rows_expected(chosen.rows))
        results = decided_rows(
            definition,
            chosen.rows,
            processes=chosen.processes,
            shortest_floats=chosen.floats == "shortest",
        )
        for row, result in enumerate(_moving(results, bar), start=1):
            line = told.add(result)
            if out is not None:
                out.write(f'{{"row":{row},{line}\n')
    if chosen.format == "json":
        write_json(told.as_json())
    else:
        told.show()
    return int(told.errors.total() > 0)


@define(kw_only=True)
class _Told:
    """Count results, and write each; equal ones are mostly one object, which is written once."""

    definition: DecisionDefinition
    outputs: Counter[str] = field(factory=Counter, init=False)
    rules: Counter[str] = field(factory=Counter, init=False)
    errors: Counter[str] = field(factory=Counter, init=False)
    by_default: int = field(default=0, init=False)
    _texts: dict[int, tuple[DecisionResult, str]] = field(factory=dict, init=False)

    def add(self, result: DecisionResult) -> str:
        """Count a result, and return it as JSON without the opening brace, in front of which the row's number goes."""
        match result:
            case DecisionMade(output=output, matched_rules=matched):
                self.outputs[output] += 1
                self.rules.update(matched)
                self.by_default += result.by_default
            case DecisionAmbiguous():
                self.errors["AMBIGUOUS_DECISION"] += 1
            case DecisionFailed():
                self.errors["EVALUATION_ERROR"] += 1
            case _ as unreachable:
                assert_never(unreachable)
        # The object is kept as well, or its identity could be another one's.
        known = self._texts.get(id(result))
        if known is None:
            known = result, dump_json(_as_json(result))[1:]
            if len(self._texts) < _TEXTS_MAX:
                self._texts[id(result)] = known
        return known[1]

    def as_json(self) -> JsonObject:
        return {
            "decision": self.definition.id,
            "rows": self.outputs.total() + self.errors.total(),
            "outputs": dict(sorted(self.outputs.items())),
            "byDefault": self.by_default,
            "rulesHit": {rule.id: self.rules[rule.id] for rule in self.definition.rules},
            "errors": dict(sorted(self.errors.items())),
        }

    def show(self) -> None:
        show((f"{self.outputs.total() + self.errors.total()} rows decided by {self.definition.id}.", "bold"))
        for output, count in sorted(self.outputs.items()):
            show(f"  {output}: {count}")
        for rule in self.definition.rules:
            hit = self.rules[rule.id]
            show(f"  rule {rule.id}: hit {hit} times" if hit else f"  rule {rule.id}: never hit")
        show(f"  default: {self.by_default} times")
        for error, count in sorted(self.errors.items()):
            show((f"  {error}: {count}", "bold red"))


def _as_json(result: DecisionResult) -> JsonObject:
    match result:
        case DecisionMade():
            return {
                "output": result.output,
                "rules": [*result.matched_rules],
                "byDefault": result.by_default,
                "error": None,
            }
        case DecisionAmbiguous():
            return {
                "output": None,
                "rules": [*result.matched_rules],
                "byDefault": False,
                "error": {"code": "AMBIGUOUS_DECISION"},
            }
        case DecisionFailed(rule=rule, fault=fault):
            error: JsonObject = {
                "code": "EVALUATION_ERROR",
                "rule": rule,
                "fault": fault.fault.value,
                "pointer": fault.pointer,
                "kinds": [kind.value for kind in fault.kinds],
            }
            return {"output": None, "rules": [], "byDefault": False, "error": error}
        case _ as unreachable:
            assert_never(unreachable)


def _decision(chosen: argparse.Namespace) -> DecisionDefinition:
    flow = read_flow(sound_document(chosen.file))
    for decision in flow.decisions:
        if decision.id == chosen.decision:
            return decision
    known = ", ".join(decision.id for decision in flow.decisions) or "none"
    raise UnusableFile(chosen.file, f"The flow has no such decision; it has: {known}.")


def _moving(results: Iterator[DecisionResult], bar: ProgressBar) -> Iterator[DecisionResult]:
    for number, result in enumerate(results):
        if number % _ROWS_A_STEP == 0:
            bar.reach(number)
        yield result
