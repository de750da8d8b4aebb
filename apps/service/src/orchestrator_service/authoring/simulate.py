"""`flow simulate`: many cases against a flow, with supplied results and no call to anything."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from orchestrator_domain.decision.evaluator import CompiledDecisionEvaluator
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.flow.contract import ActionContract, ResolveContract
from orchestrator_domain.flow.document import read_flow
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, TransitionKey
from orchestrator_domain.simulation.case import Answered, Case, CaseRunner
from orchestrator_domain.simulation.case_reading import read_case
from orchestrator_domain.simulation.no_op import NO_OP_CONTRACT, with_no_op
from orchestrator_service.authoring.case_files import CaseFile, CaseRow, open_cases
from orchestrator_service.authoring.case_report import answers_as_json, tell_mismatch, tell_summary
from orchestrator_service.authoring.case_tally import CaseTally
from orchestrator_service.authoring.catalogue_file import contracts_of
from orchestrator_service.authoring.progress import ProgressBar, progress_bar
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.authoring.sound_flow import sound_document
from orchestrator_service.authoring.sources import UnusableFile
from orchestrator_service.authoring.written_lines import written_lines

_MISMATCHES_TOLD_MAX: Final = 20


def simulate(chosen: argparse.Namespace) -> int:
    """Run the cases; return 0 if all are as expected, 1 if one isn't. Raises UnusableFile for what can't be run."""
    runner = _runner(chosen.file, chosen.catalogue)
    cases = open_cases(chosen.cases, shortest_floats=chosen.floats == "shortest")
    tally = CaseTally(flow=runner.flow.definition)
    with written_lines(chosen.out, read=chosen.cases) as out, progress_bar(cases.path.name) as bar:
        for row in _moving(cases, bar):
            case, answers = _answered(runner, cases, row)
            tally.add(answers)
            if out is not None:
                out.write(dump_json(answers_as_json(row, case, answers, runner.flow.definition)) + "\n")
            if chosen.format == "text" and tally.mismatches <= _MISMATCHES_TOLD_MAX:
                tell_mismatch(row, case, answers, runner.flow.definition)
    _tell(tally, chosen)
    return int(tally.mismatches > 0)


def _tell(tally: CaseTally, chosen: argparse.Namespace) -> None:
    if chosen.format == "json":
        write_json(tally.as_json())
        return
    if tally.mismatches > _MISMATCHES_TOLD_MAX:
        show(f"… and {tally.mismatches - _MISMATCHES_TOLD_MAX} more; --out FILE writes every case.")
    tell_summary(tally)
    if chosen.catalogue is None:
        show("Results weren't held to contracts; name a catalogue with --catalogue.")


def _answered(runner: CaseRunner, cases: CaseFile, row: CaseRow) -> tuple[Case, tuple[Answered, ...]]:
    try:
        case = read_case(row.document)
        return case, runner.answers(case)
    except InvalidInput as fault:
        place = f"{row.place} at {fault.pointer}" if fault.pointer else row.place
        raise UnusableFile(cases.path, f"{place}: {fault.message}") from None


def _runner(path: Path, catalogue: Path | None) -> CaseRunner:
    resolve = None if catalogue is None else with_no_op(contracts_of(catalogue))
    flow = ReadyFlow(definition=read_flow(sound_document(path, resolve)))
    return CaseRunner(
        flow=flow,
        contracts=_contracts(flow, resolve),
        evaluate=CompiledDecisionEvaluator().evaluate,
        limits=FlowLimits(),
    )


def _contracts(
    flow: ReadyFlow, resolve: ResolveContract | None
) -> Mapping[tuple[TransitionKey, ActionKey], ActionContract]:
    """Return the contract of each action; without a catalogue, one that takes and gives any object."""
    found = {
        (transition.id, action.id): NO_OP_CONTRACT if resolve is None else resolve(action)
        for transition in flow.definition.transitions
        for action in transition.actions
    }
    return {place: contract for place, contract in found.items() if isinstance(contract, ActionContract)}


def _moving(cases: CaseFile, bar: ProgressBar) -> Iterator[CaseRow]:
    """Give the rows of a file, moving the bar to how far they have been read."""
    bar.expect(cases.total)
    for row in cases.rows():
        bar.reach(cases.done)
        yield row
