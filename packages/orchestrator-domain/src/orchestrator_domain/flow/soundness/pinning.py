"""The contracts that a publication pins."""

from orchestrator_domain.errors import FlowInvalid
from orchestrator_domain.flow.contract import ActionContract, ResolveContract
from orchestrator_domain.flow.definition import ActionDefinition, FlowDefinition, Transition
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.lifecycle import PinnedContract


def pin_contracts(
    definition: FlowDefinition, resolve_contract: ResolveContract
) -> tuple[PinnedContract, ...]:
    """Return one pin for each action, in the document's order; raise FlowInvalid if one has no contract."""
    findings: list[Finding] = []
    pins: list[PinnedContract] = []
    for number, transition in enumerate(definition.transitions):
        for index, action in enumerate(transition.actions):
            contract = resolve_contract(action)
            if isinstance(contract, ActionContract):
                pins.append(_pinned(transition, action, contract))
            else:
                place = f"/transitions/{number}/actions/{index}"
                findings += (
                    Finding(code=fault.code, pointer=place + fault.pointer, message=fault.message)
                    for fault in contract
                )
    if findings:
        raise FlowInvalid("Actions of this flow have no contract; see the findings.", findings=findings)
    return tuple(pins)


def _pinned(transition: Transition, action: ActionDefinition, contract: ActionContract) -> PinnedContract:
    return PinnedContract(
        transition=transition.id,
        action=action.id,
        action_type=contract.action_type,
        integration_key=contract.integration_key,
        contract_version=contract.contract_version,
        profile=contract.profile,
        profile_version=contract.profile_version,
        checksum=contract.checksum,
    )
