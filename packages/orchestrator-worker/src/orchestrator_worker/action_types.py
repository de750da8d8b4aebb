"""Action types that need no integration: each brings its own configuration schema and contract."""

from attrs import frozen

from orchestrator_domain.exact_json.canonical import sha256_hex
from orchestrator_domain.exact_json.schema import CompiledSchema, compile_schema
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.identifiers import Sha256Hex

INVOKE_INTEGRATION = "INVOKE_INTEGRATION"
REGISTER_DOCUMENT = "REGISTER_DOCUMENT"
NO_OP = "NO_OP"


@frozen(kw_only=True)
class BuiltInAction:
    """A type of action with one contract for all its uses and a schema for the members that configure a use."""

    contract: ActionContract
    configuration: CompiledSchema

    @property
    def type(self) -> str:
        return self.contract.action_type


def built_in_action(contract: ActionContract, *, configuration_schema: JsonObject) -> BuiltInAction:
    """Return the type; raise InvalidSchema unless the schema compiles."""
    return BuiltInAction(contract=contract, configuration=compile_schema(configuration_schema))


_CONFIGURATION_SCHEMA: JsonObject = {
    "title": "Configuration of REGISTER_DOCUMENT",
    "type": "object",
    "required": ["documentType"],
    "additionalProperties": False,
    "properties": {
        "documentType": {
            "title": "Document type",
            "description": "The type that the document has to be filed under.",
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
        },
        "acceptedMimeTypes": {
            "title": "Accepted MIME types",
            "description": "The types that the content may have; any, if left out.",
            "type": "array",
            "minItems": 1,
            "maxItems": 50,
            "uniqueItems": True,
            "items": {"type": "string", "pattern": "^[a-z0-9!#$&^_.+-]{1,100}/[a-z0-9!#$&^_.+-]{1,100}$"},
        },
        "maxBytes": {
            "title": "Largest size",
            "description": "The most bytes that the content may have; any, if left out.",
            "type": "integer",
            "minimum": 1,
        },
    },
}

_INPUT_SCHEMA: JsonObject = {
    "title": "Inputs of REGISTER_DOCUMENT",
    "type": "object",
    "required": ["documentId"],
    "additionalProperties": False,
    "properties": {"documentId": {"type": "string", "minLength": 1, "maxLength": 200}},
}

_CODE: JsonObject = {"type": "string", "pattern": "^[A-Z][A-Z0-9_]{0,99}$"}

_OUTPUT_SCHEMA: JsonObject = {
    "title": "Result of REGISTER_DOCUMENT",
    "type": "object",
    "required": [
        "status",
        "reasonCodes",
        "documentId",
        "documentType",
        "mimeType",
        "sizeBytes",
        "checksum",
    ],
    "additionalProperties": False,
    "properties": {
        "status": {"enum": ["VALID", "INVALID"]},
        "reasonCodes": {"type": "array", "items": _CODE},
        "documentId": {"type": "string", "minLength": 1, "maxLength": 200},
        "documentType": {"type": "string", "minLength": 1, "maxLength": 100},
        "mimeType": {"type": "string", "minLength": 3, "maxLength": 100},
        "sizeBytes": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
        "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    },
}

REGISTER_DOCUMENT_CONTRACT = ActionContract(
    action_type=REGISTER_DOCUMENT,
    contract_version=1,
    checksum=Sha256Hex(
        sha256_hex(
            {
                "actionType": REGISTER_DOCUMENT,
                "contractVersion": 1,
                "effect": Effect.READ_ONLY.value,
                "configurationSchema": _CONFIGURATION_SCHEMA,
                "inputSchema": _INPUT_SCHEMA,
                "outputSchema": _OUTPUT_SCHEMA,
            }
        )
    ),
    effect=Effect.READ_ONLY,
    input_schema=_INPUT_SCHEMA,
    output_schema=_OUTPUT_SCHEMA,
    budget_seconds=15.0,
    registers_document=True,
)


def register_document_action(contract: ActionContract = REGISTER_DOCUMENT_CONTRACT) -> BuiltInAction:
    """Return the type with the deployment's retry and budget, which are no part of what it means."""
    return built_in_action(contract, configuration_schema=_CONFIGURATION_SCHEMA)
