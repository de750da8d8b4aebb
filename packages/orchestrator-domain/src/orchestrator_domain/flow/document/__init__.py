"""A flow definition read from its JSON document, every fault located.

The rooms: `reading` collects, `scalars` and `members` read the parts that all objects are made of, `conditions`,
`decisions`, `transitions` and `flow` read the objects of the language.
"""

from orchestrator_domain.errors import FlowInvalid
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.document.flow import read_parts
from orchestrator_domain.flow.document.reading import Reading, Unreadable
from orchestrator_domain.flow.findings import Finding

__all__ = ["flow_findings", "read_flow"]


def read_flow(document: JsonValue) -> FlowDefinition:
    """Return the definition that the document spells; raise FlowInvalid with every structural finding.

    Only the form is judged here (members, kinds, keys, pointers). Whether the flow makes sense is `soundness`'s work,
    and limits that an operator may lower are too, so that a published flow can always be read again.
    """
    definition, findings = flow_findings(document)
    if definition is None:
        raise FlowInvalid(
            "The flow definition isn't written in the flow language; see the findings.", findings=findings
        )
    return definition


def flow_findings(document: JsonValue) -> tuple[FlowDefinition | None, tuple[Finding, ...]]:
    """Return the definition, or None and what keeps the document from being one."""
    reading = Reading()
    parts = read_parts(reading, document, Pointer.root())
    if isinstance(parts, Unreadable) or reading.findings:
        return None, tuple(reading.findings)
    return parts, ()
