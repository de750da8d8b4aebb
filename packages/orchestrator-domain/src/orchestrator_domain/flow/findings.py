"""What is wrong, doubtful or worth knowing about a flow definition."""

from collections.abc import Iterable
from enum import StrEnum

from attrs import frozen

from orchestrator_domain.exact_json.value import JsonObject


class Severity(StrEnum):
    """Errors forbid publication; warnings and information don't."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"


@frozen(kw_only=True)
class Finding:
    """One finding: a stable `code`, the JSON Pointer of the place, a sentence, and a remedy where one is known."""

    code: str
    pointer: str
    message: str
    severity: Severity = Severity.ERROR
    suggestion: str | None = None
    witness: JsonObject | None = None


@frozen(kw_only=True)
class ValidationReport:
    """All findings of one definition, errors first in no other order than the document's."""

    findings: tuple[Finding, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def publishable(self) -> bool:
        return not self.errors

    def with_findings(self, more: Iterable[Finding]) -> "ValidationReport":
        return ValidationReport(findings=(*self.findings, *more))
