"""Catalogue files, read as the service reads them. The one room besides the assembly that sees the worker."""

import os
from pathlib import Path

from orchestrator_domain.flow.contract import ResolveContract
from orchestrator_domain.flow.findings import Finding
from orchestrator_service.authoring.sources import Source, UnusableFile, read_source
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues, stand_ins
from orchestrator_worker.integration_catalogue import DeployedCatalogue


def catalogue_findings(source: Source, *, deployed: bool) -> tuple[Finding, ...]:
    """Return the faults of a catalogue; those of its variables and files only if they are said to be here."""
    try:
        read_catalogue(source.text, values=_values(deployed=deployed))
    except CatalogueInvalid as invalid:
        return tuple(
            Finding(code=fault.code, pointer=fault.pointer, message=fault.message) for fault in invalid.faults
        )
    return ()


def contracts_of(path: Path) -> ResolveContract:
    """Return what the catalogue in a file answers for actions; raise UnusableFile for a faulty one."""
    source = read_source(path)
    findings = catalogue_findings(source, deployed=False)
    if findings:
        first = findings[0]
        message = f"{first.code}: {first.message} ('orchestrator catalogue check' tells all faults.)"
        raise UnusableFile(path, message, source.positions.of(first.pointer))
    document = read_catalogue(source.text, values=_values(deployed=False))
    return DeployedCatalogue(document=document).current


def _values(*, deployed: bool) -> DeploymentValues:
    return DeploymentValues(environment=os.environ) if deployed else stand_ins()
