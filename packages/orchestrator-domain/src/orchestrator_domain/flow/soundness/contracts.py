"""Actions against the contracts that the trusted catalogue gives them."""

from collections.abc import Iterator, Mapping

from orchestrator_domain.decision.condition import LiteralOperand
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import InvalidSchema, compile_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import ActionContract, ContractFault, ResolveContract
from orchestrator_domain.flow.definition import ActionDefinition, FlowDefinition
from orchestrator_domain.flow.document.reading import nearest, shown
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error

type Resolved = Mapping[int, ActionContract | tuple[ContractFault, ...]]
"""What the catalogue answered for each action, by the action's identity."""


def resolved_contracts(flow: FlowDefinition, resolve_contract: ResolveContract) -> Resolved:
    """Ask the catalogue once for every action."""
    return {
        id(action): resolve_contract(action)
        for transition in flow.transitions
        for action in transition.actions
    }


def contract_findings(examined: Examined, contracts: Resolved) -> Iterator[Finding]:
    """Yield what the catalogue says against actions, and inputs that their contracts don't take."""
    for transition in examined.flow.transitions:
        for action in transition.actions:
            place = examined.place_of(action)
            contract = contracts[id(action)]
            if isinstance(contract, ActionContract):
                yield from _inputs(action, contract, place.child("inputs"))
            else:
                yield from (_located(fault, place) for fault in contract)


def _located(fault: ContractFault, action: Pointer) -> Finding:
    return Finding(
        code=fault.code,
        pointer=f"{action}{fault.pointer}",
        message=fault.message,
        suggestion=fault.suggestion,
    )


def _inputs(action: ActionDefinition, contract: ActionContract, place: Pointer) -> Iterator[Finding]:
    schema = contract.input_schema
    if not isinstance(schema, dict):
        return
    yield from _missing(action, schema, place)
    yield from _not_taken(action, schema, place)
    yield from _refused_literals(action, schema, place)


def _missing(action: ActionDefinition, schema: JsonObject, place: Pointer) -> Iterator[Finding]:
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in action.inputs:
            message = f"The contract of '{action.id}' needs the input '{name}'; map it."
            yield error("MISSING_INPUT", place, message)


def _not_taken(action: ActionDefinition, schema: JsonObject, place: Pointer) -> Iterator[Finding]:
    known = schema.get("properties", {})
    open_to_others = schema.get("additionalProperties") is not False or "patternProperties" in schema
    if open_to_others or not isinstance(known, dict):
        return
    for name in action.inputs:
        if name not in known:
            message = f"The contract of '{action.id}' takes no input {shown(name)}; remove it."
            yield error("UNKNOWN_INPUT", place.child(name), message, nearest(name, known))


def _refused_literals(action: ActionDefinition, schema: JsonObject, place: Pointer) -> Iterator[Finding]:
    known = schema.get("properties")
    for name, operand in action.inputs.items():
        if not isinstance(operand, LiteralOperand) or not isinstance(known, dict) or name not in known:
            continue
        if _refuses(known[name], operand.value):
            message = f"The contract of '{action.id}' doesn't take this literal for the input {shown(name)}."
            yield error("LITERAL_REFUSED", place.child(name).child("literal"), message)


def _refuses(schema: JsonValue, value: JsonValue) -> bool:
    """Judge by the property's own schema, which stands alone unless it refers into the contract's."""
    try:
        return not compile_schema(schema).accepts(value)
    except InvalidSchema:
        return False
