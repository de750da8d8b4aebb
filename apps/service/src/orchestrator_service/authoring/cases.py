"""`flow cases`: cases at the bounds of a flow's decisions, written or run."""

import argparse
from pathlib import Path

from orchestrator_domain.decision.boundary_cases import BoundaryCase, CaseFailure, boundary_cases, run_cases
from orchestrator_domain.decision.case_document import (
    InvalidCases,
    cases_document,
    expected_document,
    read_cases,
)
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.authoring.sources import UnusableFile, read_definition, read_source


def make_or_run_cases(chosen: argparse.Namespace) -> int:
    """Write the cases of a flow, or run stored ones against it; return 1 if one is answered otherwise."""
    flow = read_definition(chosen.file)
    if chosen.run is not None:
        return _run(flow, chosen.run, chosen.format)
    cases = boundary_cases(flow.decisions)
    if chosen.format == "json":
        write_json(cases_document(cases))
        return 0
    for case in cases:
        show((case.decision, "bold"), f" {_expected(case)} ", (dump_json(case.context), "dim"))
    show(f"{len(cases)} cases of {len(flow.decisions)} decisions.")
    return 0


def _run(flow: FlowDefinition, path: Path, how: str) -> int:
    source = read_source(path)
    try:
        cases = read_cases(source.document)
    except InvalidCases as fault:
        raise UnusableFile(path, fault.message, source.positions.of(fault.pointer or "")) from None
    failures = run_cases(flow.decisions, cases)
    if how == "json":
        write_json({"run": len(cases), "failures": [_failure(failure) for failure in failures]})
    else:
        for failure in failures:
            actual = (
                "no such decision" if failure.actual is None else dump_json(expected_document(failure.actual))
            )
            show(
                ("failed ", "bold red"),
                f"{failure.case.decision}: expected {_expected(failure.case)}, got {actual} for ",
                (dump_json(failure.case.context), "dim"),
            )
        show(f"{len(cases) - len(failures)} of {len(cases)} cases are answered as expected.")
    return int(bool(failures))


def _expected(case: BoundaryCase) -> str:
    return dump_json(expected_document(case.expected))


def _failure(failure: CaseFailure) -> JsonObject:
    return {
        "decision": failure.case.decision,
        "context": failure.case.context,
        "expected": expected_document(failure.case.expected),
        "actual": None if failure.actual is None else expected_document(failure.actual),
    }
