"""The trusted configuration of what flows may use: action types, integrations and their contracts."""

from collections.abc import Collection
from typing import Protocol

from orchestrator_domain.flow.contract import ActionContract, ContractFault
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import PinnedContract


class IntegrationCatalogue(Protocol):
    """Resolve actions to contracts.

    Promises: `current` looks at the newest contract, or at the version that the action names, and lists every fault
    (unknown type, integration, profile or version, members that the type's own schema refuses); `pinned` gives
    exactly the pinned version with the same checksum, or None when the deployment no longer has it. Both are pure.
    """

    def action_types(self) -> Collection[str]: ...

    def current(self, action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]: ...

    def pinned(self, pin: PinnedContract) -> ActionContract | None: ...
