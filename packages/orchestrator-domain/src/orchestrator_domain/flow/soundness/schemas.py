"""The JSON Schemas of a flow."""

from collections.abc import Iterator
from typing import Final

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import SchemaFaultCode, check_schema
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.findings import Finding, Severity
from orchestrator_domain.flow.soundness.examined import Examined

_ADVICE: Final = frozenset({SchemaFaultCode.UNKNOWN_KEYWORD})


def schema_findings(examined: Examined) -> Iterator[Finding]:
    """Yield every fault of every schema, where it stands in the document."""
    for schema, place in placed_schemas(examined):
        for fault in check_schema(schema, shared=examined.flow.schemas):
            yield Finding(
                code=str(fault.code),
                pointer=f"{place}{fault.pointer}",
                message=fault.message,
                severity=Severity.WARNING if fault.code in _ADVICE else Severity.ERROR,
            )


def placed_schemas(examined: Examined) -> Iterator[tuple[JsonValue, Pointer]]:
    """Yield each schema that the flow declares, with its place."""
    flow, root = examined.flow, Pointer.root()
    if flow.creation is not None:
        yield flow.creation.input_schema, examined.place_of(flow.creation).child("inputSchema")
    if flow.data_schema is not None:
        yield flow.data_schema, root.child("dataSchema")
    for name, schema in flow.schemas.items():
        yield schema, root.child("schemas").child(name)
    for event in flow.events:
        yield event.input_schema, examined.place_of(event).child("inputSchema")
    for task in flow.tasks:
        if task.input_schema is not None:
            yield task.input_schema, examined.place_of(task).child("inputSchema")
