"""The deployed catalogue: actions resolved to contracts, and contracts to the routes that carry them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property

from attrs import define, evolve, field

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.flow.contract import ActionContract, ContractFault
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.identifiers import Sha256Hex
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_worker.action_types import (
    INVOKE_INTEGRATION,
    NO_OP,
    REGISTER_DOCUMENT_CONTRACT,
    BuiltInAction,
    register_document_action,
)
from orchestrator_worker.catalogue_document import CatalogueDocument
from orchestrator_worker.catalogue_fault import CatalogueFault
from orchestrator_worker.contract_matching import (
    configuration_faults,
    foreign_member_faults,
    input_faults,
    unknown_configuration_faults,
)
from orchestrator_worker.handlers import GRACE_SECONDS
from orchestrator_worker.integration_reading import DocumentService, Integration
from orchestrator_worker.route import Route, Timeouts


@define(kw_only=True, frozen=True, slots=False)
class DeployedCatalogue(IntegrationCatalogue):
    """Resolve actions by a catalogue file's content and by the built-in types that a host adds.

    REGISTER_DOCUMENT always is there: a deployment without a document service can publish flows that use it, and
    their executions end in INTEGRATION_UNAVAILABLE.
    """

    document: CatalogueDocument = field(factory=CatalogueDocument)
    extra_actions: tuple[BuiltInAction, ...] = ()

    def action_types(self) -> Collection[str]:
        return (INVOKE_INTEGRATION, *self._built_in)

    def current(self, action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        if action.type == INVOKE_INTEGRATION:
            return self._current_integration(action)
        built_in = self._built_in.get(action.type)
        if built_in is None:
            return (_unknown_type(action.type, self.action_types()),)
        return tuple(_built_in_faults(action, built_in)) or built_in.contract

    def pinned(self, pin: PinnedContract) -> ActionContract | None:
        contract = self.named_by(pin)
        return contract if contract is not None and contract.checksum == pin.checksum else None

    def named_by(self, pin: PinnedContract) -> ActionContract | None:
        """Return the contract with the names and versions of the pin, also if it means something else by now."""
        if pin.action_type != INVOKE_INTEGRATION:
            built_in = self._built_in.get(pin.action_type)
            if built_in is None or built_in.contract.contract_version != pin.contract_version:
                return None
            return built_in.contract
        integration = self._integration(pin.integration_key or "", pin.contract_version)
        if integration is None or not _has_profile(integration, pin.profile, pin.profile_version):
            return None
        return _contract_of(integration, pin.profile, pin.profile_version)

    def route_for(self, contract: ActionContract) -> Route | None:
        """Return how an integration's contract is carried, None if this deployment doesn't have exactly it."""
        if contract.integration_key is None:
            return None
        integration = self._integration(contract.integration_key, contract.contract_version)
        return None if integration is None else integration.route

    @property
    def document_service(self) -> DocumentService | None:
        return self.document.document_service

    def check_against_lease(self, lease_seconds: float) -> tuple[CatalogueFault, ...]:
        """Find every budget that an attempt could outlive its lease with."""
        return tuple(_budget_faults(self.document, lease_seconds))

    def _current_integration(self, action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        if action.integration_key is None:
            message = "An action of type INVOKE_INTEGRATION names its integration."
            return (ContractFault(code="MISSING_MEMBER", pointer="/integrationKey", message=message),)
        versions = self._versions.get(action.integration_key)
        if versions is None:
            return (_unknown_integration(action.integration_key, self._versions),)
        integration = versions.get(action.contract_version or max(versions))
        if integration is None:
            return (_unknown_version(versions),)
        faults = tuple(_integration_faults(action, integration))
        return faults or _contract_of(integration, action.profile, _newest(integration, action.profile))

    def _integration(self, key: str, version: int) -> Integration | None:
        return self._versions.get(key, {}).get(version)

    @cached_property
    def _built_in(self) -> Mapping[str, BuiltInAction]:
        service = self.document.document_service
        registering = REGISTER_DOCUMENT_CONTRACT
        if service is not None:
            budget_seconds = service.timeouts.budget_seconds
            registering = evolve(registering, retry=service.retry, budget_seconds=budget_seconds)
        actions = (register_document_action(registering), *self.extra_actions)
        return {action.type: action for action in actions}

    @cached_property
    def _versions(self) -> Mapping[str, Mapping[int, Integration]]:
        versions: dict[str, dict[int, Integration]] = {}
        for integration in self.document.integrations:
            versions.setdefault(integration.key, {})[integration.contract_version] = integration
        return versions


def _contract_of(
    integration: Integration, profile: str | None, profile_version: int | None
) -> ActionContract:
    return ActionContract(
        action_type=INVOKE_INTEGRATION,
        integration_key=integration.key,
        contract_version=integration.contract_version,
        profile=profile,
        profile_version=profile_version,
        checksum=_checksum(integration, profile, profile_version),
        effect=integration.effect,
        input_schema=integration.input_schema,
        output_schema=integration.output_schema,
        retry=integration.retry,
        budget_seconds=integration.route.timeouts.budget_seconds,
        key_memory_seconds=integration.key_memory_seconds,
        probe=integration.probe,
    )


def _checksum(integration: Integration, profile: str | None, profile_version: int | None) -> Sha256Hex:
    meaning = {**integration.semantic_part, "profile": profile, "profileVersion": profile_version}
    return Sha256Hex(sha256_hex(meaning))


def _newest(integration: Integration, profile: str | None) -> int | None:
    return None if profile is None else max(integration.profiles[profile])


def _has_profile(integration: Integration, profile: str | None, profile_version: int | None) -> bool:
    if profile is None:
        return not integration.profiles
    return profile_version in integration.profiles.get(profile, ())


def _built_in_faults(action: ActionDefinition, built_in: BuiltInAction) -> Iterator[ContractFault]:
    yield from foreign_member_faults(action)
    if action.contract_version not in (None, built_in.contract.contract_version):
        yield _unknown_version((built_in.contract.contract_version,))
    yield from configuration_faults(action, built_in.configuration)
    yield from input_faults(action, built_in.contract.input_schema)


def _integration_faults(action: ActionDefinition, integration: Integration) -> Iterator[ContractFault]:
    yield from unknown_configuration_faults(action)
    yield from _profile_faults(action, integration)
    yield from input_faults(action, integration.input_schema)


def _profile_faults(action: ActionDefinition, integration: Integration) -> Iterator[ContractFault]:
    if action.profile is None and integration.profiles:
        message = "This integration has profiles, so the action has to name one."
        yield ContractFault(
            code="PROFILE_REQUIRED",
            pointer="/profile",
            message=message,
            suggestion=f"It has: {', '.join(sorted(integration.profiles))}.",
        )
    elif action.profile is not None and action.profile not in integration.profiles:
        yield ContractFault(
            code="UNKNOWN_PROFILE",
            pointer="/profile",
            message="The integration has no such profile.",
            suggestion=_nearest(action.profile, integration.profiles),
        )


def _unknown_type(name: str, known: Collection[str]) -> ContractFault:
    if name == NO_OP:
        message = "NO_OP runs in simulation only and can't be published."
        return ContractFault(code="ACTION_TYPE_NOT_PUBLISHABLE", pointer="/type", message=message)
    return ContractFault(
        code="UNKNOWN_ACTION_TYPE",
        pointer="/type",
        message="There is no such type of action.",
        suggestion=_nearest(name, known),
    )


def _unknown_integration(key: str, known: Collection[str]) -> ContractFault:
    return ContractFault(
        code="UNKNOWN_INTEGRATION",
        pointer="/integrationKey",
        message="The catalogue has no such integration.",
        suggestion=_nearest(key, known),
    )


def _unknown_version(known: Iterable[int]) -> ContractFault:
    return ContractFault(
        code="UNKNOWN_CONTRACT_VERSION",
        pointer="/contractVersion",
        message="The catalogue has no such version of this contract.",
        suggestion=f"It has: {', '.join(str(version) for version in sorted(known))}.",
    )


def _nearest(name: str, known: Collection[str]) -> str | None:
    close = get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]}?" if close else None


def _budget_faults(document: CatalogueDocument, lease_seconds: float) -> Iterator[CatalogueFault]:
    for index, integration in enumerate(document.integrations):
        yield from _budget_fault(integration.route.timeouts, lease_seconds, f"/integrations/{index}")
    if document.document_service is not None:
        yield from _budget_fault(document.document_service.timeouts, lease_seconds, "/documentService")


def _budget_fault(timeouts: Timeouts, lease_seconds: float, place: str) -> Iterator[CatalogueFault]:
    if timeouts.budget_seconds + GRACE_SECONDS < lease_seconds:
        return
    bound = f"{GRACE_SECONDS:g} s more have to stay below the lease of {lease_seconds:g} s"
    if timeouts.is_budget_written:
        pointer, message = f"{place}/timeouts/budgetSeconds", f"The budget and {bound}."
    else:
        pointer = place
        message = (
            f"No timeouts.budgetSeconds is written, so the budget is {timeouts.budget_seconds:g} s; it and {bound}. "
            f"Write a smaller one, or lengthen the lease."
        )
    yield CatalogueFault(pointer=pointer, code="BUDGET_ABOVE_LEASE", message=message)
