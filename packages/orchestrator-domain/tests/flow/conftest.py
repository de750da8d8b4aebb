"""A trusted catalogue small enough to be read here."""

import pytest

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ActionContract, ContractFault, Effect, ResolveContract
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.flow.document.reading import nearest
from orchestrator_domain.identifiers import Sha256Hex

_STATUS: JsonObject = {"status": {"enum": ["VALID", "INVALID"]}, "reasonCodes": {"type": "array"}}
_CONTRACTS: dict[str, tuple[list[str], JsonObject]] = {
    "CLIENTES_CONSULTA": (["clienteId"], {"found": {"type": "boolean"}, "customerId": {"type": "string"}}),
    "DOCUMENTO_VALIDA": (["documentId"], _STATUS),
    "BURO_CONSULTA": (["clienteId"], {"score": {"type": "number"}, "consultationId": {"type": "string"}}),
}
_DOCUMENT: JsonObject = {
    **_STATUS,
    "documentId": {"type": "string"},
    "documentType": {"type": "string"},
    "mimeType": {"type": "string"},
    "sizeBytes": {"type": "integer"},
    "checksum": {"type": "string"},
}
_OPTIONAL_INPUTS = ("consentReference",)


@pytest.fixture
def resolve_contract() -> ResolveContract:
    """Resolve the actions of the example flow and of the corpus."""
    return _resolve


def _resolve(action: ActionDefinition) -> ActionContract | tuple[ContractFault, ...]:
    if action.type == "REGISTER_DOCUMENT":
        return _contract(action, ["documentId"], _DOCUMENT)
    if action.type != "INVOKE_INTEGRATION":
        return (ContractFault(code="UNKNOWN_ACTION_TYPE", pointer="/type", message="There is no such type."),)
    if action.integration_key not in _CONTRACTS:
        return (
            ContractFault(
                code="UNKNOWN_INTEGRATION",
                pointer="/integrationKey",
                message="There is no such integration.",
                suggestion=nearest(action.integration_key or "", _CONTRACTS),
            ),
        )
    return _contract(action, *_CONTRACTS[action.integration_key])


def _contract(action: ActionDefinition, required: list[str], output: JsonObject) -> ActionContract:
    inputs: JsonObject = {name: {"type": "string"} for name in (*required, *_OPTIONAL_INPUTS)}
    return ActionContract(
        action_type=action.type,
        integration_key=action.integration_key,
        contract_version=action.contract_version or 1,
        profile=action.profile,
        profile_version=None if action.profile is None else 1,
        checksum=Sha256Hex("0" * 64),
        effect=Effect.READ_ONLY,
        input_schema=_closed(inputs, required),
        output_schema=_closed(output, []),
    )


def _closed(properties: JsonObject, required: list[str]) -> JsonObject:
    return {
        "type": "object",
        "required": list(required),
        "additionalProperties": False,
        "properties": properties,
    }
