"""A small catalogue of a lending desk, and attempts at its actions."""

from typing import Any, cast
from uuid import UUID

from orchestrator_domain.decision.condition import PathOperand
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    CorrelationId,
    ExecutionId,
    FencingToken,
    RequestId,
    Subject,
)
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_worker.catalogue_document import read_catalogue
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.integration_catalogue import DeployedCatalogue

EXECUTION = ExecutionId(UUID("00000000-0000-0000-0000-0000000000e1"))
REQUEST = RequestId(UUID("00000000-0000-0000-0000-0000000000a1"))
LOOKUP = ActionDefinition(
    id=ActionKey("lookup"),
    type="INVOKE_INTEGRATION",
    integration_key="INVENTORY_LOOKUP",
    inputs={"item": PathOperand(pointer=Pointer.parse("/request/data/item"))},
)


def lookup_integration(**changes: Any) -> dict[str, Any]:
    """Return the catalogue entry of a lookup by path."""
    return {
        "integrationKey": "INVENTORY_LOOKUP",
        "contractVersion": 1,
        "effect": "READ_ONLY",
        "endpoint": "inventory",
        "request": {
            "method": "GET",
            "path": "/items/{item}",
            "pathFields": {"item": {"input": "item"}},
        },
        "inputSchema": {
            "type": "object",
            "required": ["item"],
            "additionalProperties": False,
            "properties": {"item": {"type": "string"}, "shelf": {"type": "string"}},
        },
        "outputSchema": {
            "type": "object",
            "required": ["found"],
            "additionalProperties": False,
            "properties": {"found": {"type": "boolean"}, "shelf": {"type": "string"}},
        },
        **changes,
    }


def catalogue_file(
    *integrations: dict[str, Any], base_url: str = "http://127.0.0.1:9", **changes: Any
) -> JsonObject:
    """Return a catalogue file's content."""
    return cast(
        "JsonObject",
        {
            "catalogueVersion": 1,
            "endpoints": {
                "inventory": {
                    "baseUrl": base_url,
                    "authentication": {"kind": "none"},
                    "allowedNetworks": ["127.0.0.0/8"],
                }
            },
            "integrations": list(integrations),
            **changes,
        },
    )


def deployed(content: JsonObject, *, environment: dict[str, str] | None = None) -> DeployedCatalogue:
    """Return the catalogue that a file of this content deploys."""
    values = DeploymentValues(environment=environment or {})
    return DeployedCatalogue(document=read_catalogue(dump_json(content), values=values))


def contract_of(catalogue: DeployedCatalogue, action: ActionDefinition) -> ActionContract:
    """Return the contract of an action that resolves."""
    contract = catalogue.current(action)
    assert isinstance(contract, ActionContract), contract
    return contract


def attempt_at(contract: ActionContract, **inputs: JsonValue) -> ActionContext:
    """Return what the first attempt at an action gets to know."""
    return ActionContext(
        execution_id=EXECUTION,
        request_id=REQUEST,
        owner=Subject("owner-1"),
        scope=BusinessScope("NORTH"),
        actor=Subject("clerk-1"),
        inputs=inputs,
        external_key=f"{EXECUTION}:lookup",
        fencing_token=FencingToken(7),
        attempt=1,
        contract=contract,
        correlation_id=CorrelationId("trace-1"),
    )
