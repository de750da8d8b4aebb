"""Does an action, as a flow writes it, fit a contract? Every fault at once, placed relative to the action."""

from collections.abc import Collection, Iterator

from orchestrator_domain.decision.condition import LiteralOperand
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import CompiledSchema, compile_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import ContractFault
from orchestrator_domain.flow.definition import ActionDefinition


def configuration_faults(action: ActionDefinition, configuration: CompiledSchema) -> Iterator[ContractFault]:
    """Hold the members that only the type knows against the type's own schema."""
    for violation in configuration.violations(action.configuration):
        yield ContractFault(
            code="INVALID_CONFIGURATION", pointer=violation.pointer, message=violation.message
        )


def foreign_member_faults(action: ActionDefinition) -> Iterator[ContractFault]:
    """Find members that only INVOKE_INTEGRATION has."""
    for member, value in (("integrationKey", action.integration_key), ("profile", action.profile)):
        if value is not None:
            message = f"An action of type {action.type} has no {member}; leave it out."
            yield ContractFault(code="UNKNOWN_MEMBER", pointer=f"/{member}", message=message)


def unknown_configuration_faults(action: ActionDefinition) -> Iterator[ContractFault]:
    for member in action.configuration:
        message = f"An action of type {action.type} has no such member; leave it out."
        pointer = str(Pointer.root().child(member))
        yield ContractFault(code="UNKNOWN_MEMBER", pointer=pointer, message=message)


def input_faults(action: ActionDefinition, input_schema: JsonValue) -> Iterator[ContractFault]:
    """Hold the names of the inputs, and the values of literal ones, against the contract's input schema."""
    if not isinstance(input_schema, dict):
        return
    for name in sorted(_required(input_schema) - set(action.inputs)):
        message = f"The contract requires the input {name}."
        yield ContractFault(code="MISSING_INPUT", pointer="/inputs", message=message)
    properties = _properties(input_schema)
    for name, operand in action.inputs.items():
        place = Pointer.root().child("inputs").child(name)
        if name not in properties and input_schema.get("additionalProperties") is False:
            yield _unknown_input(place, properties)
        elif isinstance(operand, LiteralOperand) and name in properties and "$defs" not in input_schema:
            yield from _literal_faults(operand.value, properties[name], place.child("literal"))


def _required(schema: JsonObject) -> set[str]:
    required = schema.get("required")
    return {str(name) for name in required} if isinstance(required, list) else set()


def _properties(schema: JsonObject) -> JsonObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _unknown_input(place: Pointer, known: Collection[str]) -> ContractFault:
    return ContractFault(
        code="UNKNOWN_INPUT",
        pointer=str(place),
        message="The contract has no such input.",
        suggestion=f"It takes: {', '.join(sorted(known))}." if known else "It takes none.",
    )


def _literal_faults(value: JsonValue, schema: JsonValue, place: Pointer) -> Iterator[ContractFault]:
    for violation in compile_schema(schema).violations(value):
        yield ContractFault(
            code="INVALID_INPUT", pointer=f"{place}{violation.pointer}", message=violation.message
        )
