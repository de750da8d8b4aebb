"""The port that says whether a flow definition may be published."""

from typing import Protocol

from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.findings import ValidationReport


class FlowDefinitionValidator(Protocol):
    """Validate a definition document.

    Promises: every finding comes at once, each with a stable code and a JSON Pointer; a document whose report is
    publishable can be read by `flow.document` and run; never raises for a bad document.
    """

    def validate(self, document: JsonValue) -> ValidationReport: ...
