"""A flow whose one transition runs a chain of actions, each fed by the one before it, and its contracts."""

from collections.abc import Collection, Mapping

from attrs import evolve, frozen

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.execution.attempt import Succeeded
from orchestrator_domain.flow.contract import ActionContract, ContractFault, Effect, RetryContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.lifecycle import PinnedContract
from orchestrator_domain.identifiers import ActionKey, Sha256Hex, TransitionKey
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue

CHAIN_ACTIONS = (ActionKey("first"), ActionKey("second"), ActionKey("third"))
CHAIN_TYPE = "INVOKE_INTEGRATION"

_VALUE_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["value"],
    "properties": {"value": {"type": "integer"}},
}
_INPUT_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["item"],
    "properties": {"item": {"type": "string"}, "previous": {"type": "integer"}},
}


def chain_document(actions: Collection[ActionKey] = CHAIN_ACTIONS) -> JsonObject:
    """Return a definition in which GO takes OPEN to DONE by way of the actions; each result is kept in the data."""
    return {
        "schemaVersion": 1,
        "flowKey": "CHAIN",
        "version": 1,
        "initialState": "OPEN",
        "states": [{"key": "OPEN", "terminal": False}, {"key": "DONE", "terminal": True}],
        "creation": {"inputSchema": {"type": "object"}},
        "events": [{"key": "GO", "inputSchema": {"type": "object"}}],
        "transitions": [_transition(tuple(actions))],
        "decisions": [],
        "tasks": [],
    }


def chain_contract(
    action: ActionKey,
    effect: Effect,
    *,
    attempts_max: int = 3,
    key_memory_seconds: float | None = None,
) -> ActionContract:
    """Return a contract of one action: it takes an item, and gives an integer `value`."""
    identity: JsonObject = {"integration": str(action), "effect": str(effect)}
    return ActionContract(
        action_type=CHAIN_TYPE,
        integration_key=action.upper(),
        contract_version=1,
        checksum=Sha256Hex(sha256_hex(identity)),
        effect=effect,
        input_schema=_INPUT_SCHEMA,
        output_schema=_VALUE_SCHEMA,
        retry=RetryContract(attempts_max=attempts_max),
        key_memory_seconds=key_memory_seconds,
    )


def chain_contracts(effects: Mapping[ActionKey, Effect]) -> dict[ActionKey, ActionContract]:
    return {action: chain_contract(action, effect) for action, effect in effects.items()}


def chain_pin(action: ActionKey, contract: ActionContract) -> PinnedContract:
    return PinnedContract(
        transition=TransitionKey("go"),
        action=action,
        action_type=contract.action_type,
        integration_key=contract.integration_key,
        contract_version=contract.contract_version,
        profile=contract.profile,
        profile_version=contract.profile_version,
        checksum=contract.checksum,
    )


def chain_result(action: ActionKey) -> Succeeded:
    """Return what the action answers when all goes well: its place in the chain."""
    return Succeeded(result={"value": CHAIN_ACTIONS.index(action) + 1}, provider_reference=f"ref-{action}")


@frozen
class ChainCatalogue(IntegrationCatalogue):
    """Serve the contracts of a chain by integration key; a contract that is left out can't be served."""

    contracts: Mapping[ActionKey, ActionContract]

    def action_types(self) -> Collection[str]:
        return (CHAIN_TYPE,)

    def current(self, action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
        found = self.contracts.get(action.id)
        if found is not None:
            return found
        return (ContractFault(code="UNKNOWN_INTEGRATION", pointer="/integrationKey", message="Unknown."),)

    def pinned(self, pin: PinnedContract) -> ActionContract | None:
        found = self.contracts.get(pin.action)
        return found if found is not None and found.checksum == pin.checksum else None

    def without(self, action: ActionKey) -> "ChainCatalogue":
        """Return the catalogue of a deployment that no longer serves this action."""
        rest = {key: contract for key, contract in self.contracts.items() if key != action}
        return evolve(self, contracts=rest)


def _transition(actions: tuple[ActionKey, ...]) -> JsonObject:
    steps: list[JsonValue] = [
        _action(action, previous) for action, previous in zip(actions, (None, *actions), strict=False)
    ]
    updates: list[JsonValue] = [
        {"target": f"/{action}", "value": {"path": f"/results/{action}"}} for action in actions
    ]
    return {
        "id": "go",
        "from": "OPEN",
        "event": "GO",
        "allowedRoles": ["CLERK"],
        "actions": steps,
        "to": "DONE",
        "updates": updates,
    }


def _action(action: ActionKey, previous: ActionKey | None) -> JsonObject:
    inputs: JsonObject = {"item": {"path": "/request/data/item"}}
    if previous is not None:
        inputs["previous"] = {"path": f"/results/{previous}/value"}
    return {
        "id": action,
        "type": CHAIN_TYPE,
        "integrationKey": action.upper(),
        "inputs": inputs,
        "resultKey": action,
    }
