"""Examine, check by check, what `serve` would work with."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping

import psycopg

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.flow.pinned_meaning import deviations
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.examination import Examination, examine
from orchestrator_postgres.flows_in_use import flows_in_use
from orchestrator_postgres.reachability import DatabaseUnreachable, connection_fault
from orchestrator_service.assembly import deployed_contracts, issuer_reports
from orchestrator_service.doctor.database_checks import database_findings
from orchestrator_service.doctor.finding import Finding, fault, is_healthy, ok, tell, warn
from orchestrator_service.environment import Environment, SettingsInvalid
from orchestrator_service.pinned_contracts import named_by_flow
from orchestrator_service.settings import Settings, read_settings, settings_from


def examine_deployment(chosen: argparse.Namespace, variables: Mapping[str, str]) -> int:
    """Print every finding; return 1 if something is at fault."""
    findings = asyncio.run(_findings(variables))
    tell(findings, as_json=chosen.json)
    return 0 if is_healthy(findings) else 1


async def _findings(variables: Mapping[str, str]) -> list[Finding]:
    # Whatever is wrong with some settings, those that can be taken say enough for other checks.
    settings = settings_from(Environment(variables))
    found = [*_settings_findings(variables, settings)]
    found += [each async for each in _issuer_findings(settings)]
    connection = ConnectionSettings(url=settings.database_url, application_name="orchestrator-doctor")
    examined, refused = await _examined(connection)
    if refused is not None:
        return [*found, refused, *_catalogue_alone(settings, variables)]
    assert examined is not None, "what isn't refused is examined"
    found += database_findings(examined, lease_seconds=settings.worker.lease_seconds)
    return found + [each async for each in _catalogue_findings(settings, variables, connection, examined)]


def _settings_findings(variables: Mapping[str, str], settings: Settings) -> Iterator[Finding]:
    try:
        read_settings(variables)
        faults: tuple[str, ...] = ()
    except SettingsInvalid as invalid:
        faults = invalid.faults
    for sentence in faults:
        yield fault("settings", sentence, "docs/reference/settings.md tells every setting.")
    if not settings.serves_api and not settings.worker.enabled:
        yield fault(
            "settings",
            "Nothing is switched on.",
            "Set REQUEST_API_ENABLED, FLOW_ADMIN_ENABLED or WORKER_ENABLED to true.",
        )
    elif not faults:
        yield ok("settings", "Every setting can be taken.")


async def _issuer_findings(settings: Settings) -> AsyncIterator[Finding]:
    try:
        reports = await issuer_reports(settings)
    except SettingsInvalid as invalid:
        for sentence in invalid.faults:
            yield fault("issuer", sentence, "Correct AUTH_ISSUERS.")
        return
    for name, reason in reports:
        if reason is None:
            yield ok("issuer", f"The keys of {name} can be had.")
        else:
            yield fault(
                "issuer", f"The keys of {name} can't be had: {reason}", "Check its address and the network."
            )


async def _examined(connection: ConnectionSettings) -> tuple[Examination | None, Finding | None]:
    if not connection.url:
        return None, fault("database", "No database is named.", "Set DATABASE_URL.")
    try:
        return await examine(connection), None
    except (psycopg.Error, OSError) as refusal:
        try:
            return None, fault(
                "database", await connection_fault(connection, refusal), "Correct DATABASE_URL."
            )
        except DatabaseUnreachable as unreachable:
            return None, fault("database", unreachable.message, "Then ask again.")


def _catalogue_alone(settings: Settings, variables: Mapping[str, str]) -> Iterator[Finding]:
    try:
        deployed_contracts(settings, variables)
    except SettingsInvalid as invalid:
        for sentence in invalid.faults:
            yield fault(
                "catalogue", sentence, "`orchestrator catalogue check` tells it with line and column."
            )


async def _catalogue_findings(
    settings: Settings, variables: Mapping[str, str], connection: ConnectionSettings, examined: Examination
) -> AsyncIterator[Finding]:
    try:
        named_by = deployed_contracts(settings, variables)
        flows = () if examined.schema_fault else await flows_in_use(connection)
    except SettingsInvalid as invalid:
        for sentence in invalid.faults:
            yield fault(
                "catalogue", sentence, "`orchestrator catalogue check` tells it with line and column."
            )
        return
    except OrchestratorError as unreadable:
        yield fault("catalogue", unreadable.message, "See the checks of database, schema and role.")
        return
    if examined.schema_fault is not None:
        yield warn(
            "catalogue",
            "The catalogue can be read; it wasn't held against the flows in use, for the schema is at fault.",
            "See the check of the schema, and ask again.",
        )
        return
    found = deviations(flows, named_by)
    for flow, contracts in named_by_flow(found.changed):
        yield fault(
            "catalogue",
            f"Means something else than when flow {flow.flow_key} version {flow.version} was published: {contracts}.",
            "Give a changed contract a new version, and keep the published one.",
        )
    for flow, contracts in named_by_flow(found.missing):
        yield warn(
            "catalogue",
            f"Not deployed, and flow {flow.flow_key} version {flow.version} needs it: {contracts}.",
            "Deploy it: executions that need it end in INTEGRATION_UNAVAILABLE.",
        )
    if not found.changed and not found.missing:
        yield ok("catalogue", "The catalogue means what the flows in use were published with.")
