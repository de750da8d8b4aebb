"""`orchestrator-sandbox demo`: start everything, go through the story, compare, stop everything."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import httpx2
from attrs import evolve

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_sandbox.demo.asked_payment import AskedPayment
from orchestrator_sandbox.demo.case import SCOPE, Office
from orchestrator_sandbox.demo.clients import ApiClient, DoublesClient, UnexpectedAnswer
from orchestrator_sandbox.demo.configurator import Configurator
from orchestrator_sandbox.demo.credit_case import ANALYST, APPLICANT
from orchestrator_sandbox.demo.patience import Patience, TooLate
from orchestrator_sandbox.demo.purchase import Purchase
from orchestrator_sandbox.demo.quick_catalogue import quick_catalogue
from orchestrator_sandbox.demo.report import Report, StepReport
from orchestrator_sandbox.demo.step import Step
from orchestrator_sandbox.demo.story import Story
from orchestrator_sandbox.demo.two_versions import TwoVersions
from orchestrator_sandbox.examples import Examples
from orchestrator_sandbox.failure import SandboxFailure, StopRequested
from orchestrator_sandbox.sandbox import Sandbox, SandboxPlan, running_sandbox
from orchestrator_sandbox.state_directory import StateDirectory, temporary_directory
from orchestrator_sandbox.stopping import Stopping
from orchestrator_sandbox.token_request import issued_token

PATIENCE_SECONDS = 30.0
# Leases short enough that nobody has to wait long for the recovery.
SERVICE_VARIABLES = {
    "WORKER_POLL_MS": "100",
    "WORKER_LEASE_SECONDS": "7",
    "WORKER_RENEW_SECONDS": "2",
    "WORKER_DRAIN_SECONDS": "5",
}
INTERRUPTED = 130


def run_demo(examples: Examples, report: Report) -> int:
    """Return 0 when all steps agree, 1 when one doesn't, 130 when a signal came first.

    Raises SandboxFailure when a part doesn't start, or falls.
    """
    stopping = Stopping()
    stopping.listen()
    began = time.monotonic()
    plan = SandboxPlan(catalogue_file=examples.catalogue_file, workers=2, service_variables=SERVICE_VARIABLES)
    try:
        with temporary_directory() as state:
            plan = _plan(examples, state)
            report.begin("starting PostgreSQL, token issuer, provider doubles, API and two workers")
            with running_sandbox(plan, state, stopping) as sandbox:
                reports = list(told(_steps(sandbox, examples), report))
                report.begin("stopping everything")
            if not _all_agree(reports):
                report.begin(f"the logs of all processes are kept in {state.kept_logs()}")
    except StopRequested:
        return INTERRUPTED
    report.end(reports, time.monotonic() - began)
    return 0 if _all_agree(reports) else 1


def _all_agree(reports: list[StepReport]) -> bool:
    return all(report.agrees for report in reports)


def _plan(examples: Examples, state: StateDirectory) -> SandboxPlan:
    return SandboxPlan(
        catalogue_file=quick_catalogue(examples.catalogue_file, state.path),
        workers=2,
        service_variables=SERVICE_VARIABLES,
    )


def _steps(sandbox: Sandbox, examples: Examples) -> Iterator[Step]:
    """Return the steps of all parts; each part builds on what the parts before it have left behind."""
    configurator = Configurator(
        client=_client(sandbox, "configuracion-1", "FLOW_EDITOR", "FLOW_PUBLISHER", "FLOW_ADMIN")
    )
    office = Office(
        applicant=_client(sandbox, APPLICANT, "SOLICITANTE"),
        clerk=_client(sandbox, ANALYST, "ANALISTA"),
        doubles=DoublesClient.of(sandbox.providers_url),
        patience=Patience(seconds=PATIENCE_SECONDS, check=sandbox.check),
    )
    shop = evolve(
        office,
        applicant=_client(sandbox, "compradora-1", "COMPRADOR"),
        clerk=_client(sandbox, "cajera-1", "CAJERO"),
    )
    flow = _flow(examples.credit_flow_file)
    yield from Story(sandbox=sandbox, configurator=configurator, office=office, flow=flow).steps()
    second_flow = _flow(examples.licence_flow_file)
    yield from TwoVersions(configurator=configurator, office=office, second_flow=second_flow).steps()
    operator = _client(sandbox, "operador-1", "EXECUTION_OPERATOR")
    purchase = _flow(examples.purchase_flow_file)
    yield from Purchase(configurator=configurator, office=shop, operator=operator, flow=purchase).steps()
    yield from AskedPayment(configurator=configurator, office=shop, operator=operator, flow=purchase).steps()


def _flow(file: Path) -> JsonObject:
    flow = parse_json(file.read_bytes())
    if not isinstance(flow, dict):
        raise SandboxFailure(f"{file} doesn't hold a JSON object.")
    return flow


def _client(sandbox: Sandbox, subject: str, *roles: str) -> ApiClient:
    token = issued_token(sandbox.issuer_url, subject=subject, roles=roles, scopes=(SCOPE,))
    return ApiClient.of(sandbox.api_url, token)


def told(steps: Iterable[Step], report: Report) -> Iterator[StepReport]:
    """Take the steps and tell each; after one that breaks off, the later ones have nothing to build on."""
    broken_at = None
    for step in steps:
        if broken_at is None:
            report.begin(step.name)
            taken, broke = _taken(step)
            broken_at = step.name if broke else None
        else:
            taken = _untaken(step, broken_at)
        report.step(taken)
        yield taken


def _taken(step: Step) -> tuple[StepReport, bool]:
    """Take a step, and tell whether it broke off."""
    began = time.monotonic()
    try:
        seen, broke = step.act(), False
    except (UnexpectedAnswer, TooLate, httpx2.HTTPError) as error:
        seen, broke = str(error) or type(error).__name__, True
    seconds = time.monotonic() - began
    return StepReport(name=step.name, expected=step.expected, seen=seen, seconds=seconds), broke


def _untaken(step: Step, broken_at: str) -> StepReport:
    return StepReport(
        name=step.name, expected=step.expected, seen=f"not tried, after: {broken_at}", seconds=0
    )
