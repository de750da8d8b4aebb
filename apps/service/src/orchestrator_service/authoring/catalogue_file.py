"""Catalogue files, read as the service reads them. The one room besides the assembly that sees the worker."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from orchestrator_domain.flow.contract import ResolveContract
from orchestrator_domain.flow.findings import Finding
from orchestrator_service.authoring.sources import Source, UnusableFile, read_source
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.integration_catalogue import DeployedCatalogue

_STAND_IN: Final = "https://left-to-the-deployment.invalid"


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
    if deployed:
        return DeploymentValues(environment=os.environ)
    return DeploymentValues(environment=_AnyVariable(), read_file=lambda _: _STAND_IN, are_stand_ins=True)


class _AnyVariable(Mapping[str, str]):
    """An environment in which every variable is set, for authors have neither addresses nor secrets."""

    def __getitem__(self, name: str) -> str:
        return _STAND_IN

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, name: object) -> bool:
        return True
