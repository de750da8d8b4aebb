"""The catalogue that the settings name, read and held against the lease."""

from collections.abc import Mapping, Sequence

from orchestrator_domain.flow.pinned_meaning import ContractNamedBy
from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.settings import Settings
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.catalogue_fault import CatalogueFault, CatalogueInvalid
from orchestrator_worker.deployment_values import DeploymentValues, stand_ins
from orchestrator_worker.integration_catalogue import DeployedCatalogue


def deployed_contracts(settings: Settings, variables: Mapping[str, str]) -> ContractNamedBy:
    """Return what finds a deployed contract by its names and versions; raise SettingsInvalid."""
    return deployed_catalogue(settings, DeploymentValues(environment=variables)).named_by


def deployed_catalogue(settings: Settings, values: DeploymentValues) -> DeployedCatalogue:
    """Return the catalogue; raise SettingsInvalid with every fault of it.

    Only a worker calls by it. Any other process compares contracts alone, and is given no provider's secret.
    """
    if settings.catalogue_file is None:
        return DeployedCatalogue()
    try:
        document = read_catalogue(
            settings.catalogue_file.read_bytes(), values=values if settings.worker.enabled else stand_ins()
        )
    except CatalogueInvalid as invalid:
        raise _catalogue_faults(invalid.faults) from None
    catalogue = DeployedCatalogue(document=document)
    faults = catalogue.check_against_lease(settings.worker.lease_seconds)
    if faults:
        raise _catalogue_faults(faults)
    return catalogue


def _catalogue_faults(faults: Sequence[CatalogueFault]) -> SettingsInvalid:
    return SettingsInvalid(
        tuple(
            f"INTEGRATION_CATALOGUE at {fault.pointer or '/'}: {fault.message} ({fault.code})"
            for fault in faults
        )
    )
