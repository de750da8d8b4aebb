"""Findings with their places in files, for people, machines and GitHub."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from orchestrator_domain.exact_json.positions import Position
from orchestrator_domain.exact_json.text import dump_json
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.findings import Finding, Severity
from orchestrator_service.authoring.screen import show, write_json
from orchestrator_service.authoring.sources import Source, UnusableFile

_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFORMATION: "cyan"}
_GITHUB: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "notice"}


@frozen(kw_only=True)
class PlacedFinding:
    finding: Finding
    position: Position


@frozen(kw_only=True)
class FileReport:
    """What was found in one file, or why it couldn't be looked at."""

    path: Path
    findings: tuple[PlacedFinding, ...] = ()
    unusable: UnusableFile | None = None

    @property
    def exit_code(self) -> int:
        if self.unusable is not None:
            return 2
        return int(any(each.finding.severity is Severity.ERROR for each in self.findings))


def placed(source: Source, findings: Iterable[Finding]) -> FileReport:
    """Look up the line and column of each finding."""
    return FileReport(
        path=source.path,
        findings=tuple(
            PlacedFinding(finding=finding, position=source.positions.of(finding.pointer))
            for finding in findings
        ),
    )


def tell(reports: Sequence[FileReport], how: str) -> int:
    """Print the reports in a format; return 0, 1 if there are errors, 2 if a file couldn't be used."""
    match how:
        case "json":
            write_json({"files": [_as_json(report) for report in reports]})
        case "github":
            for report in reports:
                _to_github(report)
        case _:
            for report in reports:
                _to_people(report)
            show(_summary(reports))
    return max(report.exit_code for report in reports)


def _to_people(report: FileReport) -> None:
    if report.unusable is not None:
        show((str(report.unusable.message), "bold red"))
    for each in report.findings:
        finding, at = each.finding, each.position
        where = finding.pointer or "the whole document"
        show(
            (f"{report.path}:{at.line}:{at.column}: ", "bold"),
            (str(finding.severity), _STYLES[finding.severity]),
            f" {finding.code} at {where}: {finding.message}",
        )
        if finding.suggestion is not None:
            show(("    suggestion: ", "green"), finding.suggestion)
        if finding.witness is not None:
            show(("    witness: ", "dim"), dump_json(finding.witness))


def _summary(reports: Sequence[FileReport]) -> str:
    counts = Counter(each.finding.severity for report in reports for each in report.findings)
    told = [
        f"{counts[severity]} {severity}{'' if counts[severity] == 1 or severity is Severity.INFORMATION else 's'}"
        for severity in Severity
    ]
    files = f"{len(reports)} file{'' if len(reports) == 1 else 's'}"
    unusable = sum(report.unusable is not None for report in reports)
    return f"{', '.join(told)} in {files}" + (f", {unusable} of them unusable." if unusable else ".")


def _as_json(report: FileReport) -> JsonObject:
    if report.unusable is not None:
        at = report.unusable.position or Position(line=1, column=1)
        fault: JsonObject = {"message": report.unusable.reason, "line": at.line, "column": at.column}
        return {"file": str(report.path), "unusable": fault, "findings": []}
    return {"file": str(report.path), "findings": [_finding_as_json(each) for each in report.findings]}


def _finding_as_json(each: PlacedFinding) -> JsonObject:
    finding = each.finding
    told: JsonObject = {
        "code": finding.code,
        "severity": str(finding.severity),
        "pointer": finding.pointer,
        "line": each.position.line,
        "column": each.position.column,
        "message": finding.message,
    }
    if finding.suggestion is not None:
        told["suggestion"] = finding.suggestion
    if finding.witness is not None:
        told["witness"] = finding.witness
    return told


def _to_github(report: FileReport) -> None:
    if report.unusable is not None:
        at = report.unusable.position or Position(line=1, column=1)
        _annotate("error", report.path, at, "UNUSABLE_FILE", report.unusable.reason)
    for each in report.findings:
        finding = each.finding
        hint = "" if finding.suggestion is None else f" Suggestion: {finding.suggestion}"
        shown = "" if finding.witness is None else f" Witness: {dump_json(finding.witness)}"
        level = _GITHUB[finding.severity]
        _annotate(level, report.path, each.position, finding.code, finding.message + hint + shown)


def _annotate(level: str, path: Path, at: Position, title: str, message: str) -> None:
    file = _escaped(str(path)).replace(":", "%3A").replace(",", "%2C")
    print(f"::{level} file={file},line={at.line},col={at.column},title={title}::{_escaped(message)}")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
