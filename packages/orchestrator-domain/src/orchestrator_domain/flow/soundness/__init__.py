"""Whether a flow definition makes sense and may be published (specification, section 11).

The rooms: `examined` is what all look at; `graph`, `references`, `decisions`, `overlaps`, `conditions`, `mappings`,
`contracts`, `updates`, `fitting_updates`, `schemas`, `satisfiability`, `tasks` and `sizes` each judge one thing;
`order` sorts what they found.
"""

from collections.abc import Iterator

from attrs import field, frozen

from orchestrator_domain.decision.regions import STEPS_MAX
from orchestrator_domain.exact_json.canonical import canonical_bytes
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import InexactJson, JsonValue, check_exact
from orchestrator_domain.flow.contract import ResolveContract
from orchestrator_domain.flow.document.flow import read_parts
from orchestrator_domain.flow.document.reading import Reading, Unreadable
from orchestrator_domain.flow.findings import Finding, Severity, ValidationReport
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness.conditions import condition_findings
from orchestrator_domain.flow.soundness.contracts import Resolved, contract_findings, resolved_contracts
from orchestrator_domain.flow.soundness.decisions import decision_findings
from orchestrator_domain.flow.soundness.examined import Examined, information
from orchestrator_domain.flow.soundness.fitting_updates import fitting_findings
from orchestrator_domain.flow.soundness.graph import graph_findings
from orchestrator_domain.flow.soundness.mappings import mapping_findings
from orchestrator_domain.flow.soundness.order import in_document_order
from orchestrator_domain.flow.soundness.overlaps import overlap_findings
from orchestrator_domain.flow.soundness.pinning import pin_contracts
from orchestrator_domain.flow.soundness.references import reference_findings
from orchestrator_domain.flow.soundness.satisfiability import (
    is_too_much_to_reason_about,
    satisfiability_findings,
)
from orchestrator_domain.flow.soundness.schemas import schema_findings
from orchestrator_domain.flow.soundness.sizes import size_findings
from orchestrator_domain.flow.soundness.tasks import task_findings
from orchestrator_domain.flow.soundness.updates import update_findings
from orchestrator_domain.identifiers import Role

__all__ = ["FlowSoundness", "pin_contracts"]


@frozen(kw_only=True)
class FlowSoundness:
    """Implement the FlowDefinitionValidator port.

    `known_roles` None means that any role may be named. `analysis_steps_max` bounds the exact analysis of all decisions
    together; what it cuts is said to be incomplete.
    """

    resolve_contract: ResolveContract
    known_roles: frozenset[Role] | None = None
    limits: FlowLimits = field(factory=FlowLimits)
    analysis_steps_max: int = 2 * STEPS_MAX

    def validate(self, document: JsonValue) -> ValidationReport:
        """Return every finding at once; never raises for a bad document."""
        try:
            check_exact(document)
        except InexactJson as fault:
            return _only(Finding(code="INEXACT_JSON", pointer=fault.pointer or "", message=fault.message))
        if len(canonical_bytes(document)) > self.limits.definition_bytes_max:
            message = f"A definition has at most {self.limits.definition_bytes_max} canonical bytes."
            return _only(Finding(code="DEFINITION_TOO_LARGE", pointer="", message=message))
        return ValidationReport(findings=in_document_order(document, self._findings(document)))

    def _findings(self, document: JsonValue) -> list[Finding]:
        reading = Reading()
        parts = read_parts(reading, document, Pointer.root())
        structural = list(reading.findings)
        if isinstance(parts, Unreadable):
            return structural
        examined = Examined(flow=parts, reading=reading, whole=not structural)
        return [*structural, *self._judge(examined)]

    def _judge(self, examined: Examined) -> Iterator[Finding]:
        contracts = resolved_contracts(examined.flow, self.resolve_contract)
        yield from size_findings(examined, self.limits)
        yield from graph_findings(examined)
        yield from reference_findings(examined, self.known_roles)
        yield from self._judge_schemas(examined, contracts)
        yield from decision_findings(examined)
        yield from condition_findings(examined, self.limits)
        yield from overlap_findings(examined, self.analysis_steps_max)
        yield from contract_findings(examined, contracts)
        yield from mapping_findings(examined, contracts)
        yield from update_findings(examined)
        yield from task_findings(examined)

    def _judge_schemas(self, examined: Examined, contracts: Resolved) -> Iterator[Finding]:
        findings = tuple(schema_findings(examined))
        yield from findings
        if any(finding.severity is Severity.ERROR for finding in findings):
            return
        if is_too_much_to_reason_about(examined):
            message = "The schemas have too many alternatives to be searched for what nothing satisfies."
            yield information("ANALYSIS_INCOMPLETE", Pointer.root(), message)
        else:
            yield from satisfiability_findings(examined)
            yield from fitting_findings(examined, contracts)


def _only(finding: Finding) -> ValidationReport:
    return ValidationReport(findings=(finding,))
