"""`flow validate` and `catalogue check`."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path

from orchestrator_domain.flow.contract import ResolveContract
from orchestrator_domain.flow.findings import Finding, Severity
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_domain.identifiers import Role
from orchestrator_service.authoring.catalogue_file import catalogue_findings, contracts_of
from orchestrator_service.authoring.report import FileReport, placed, tell
from orchestrator_service.authoring.sources import Source, UnusableFile, read_source


def validate(chosen: argparse.Namespace) -> int:
    """Validate flow files as publication would; return the exit code."""
    resolve = _nothing_known if chosen.catalogue is None else contracts_of(chosen.catalogue)
    roles = None if chosen.roles is None else frozenset(map(Role, chosen.roles))
    skipped = tuple(_not_checked(catalogue=chosen.catalogue, roles=chosen.roles))

    def findings(source: Source) -> Iterable[Finding]:
        soundness = FlowSoundness(resolve_contract=resolve, known_roles=roles)
        return (*soundness.validate(source.document).findings, *skipped)

    return tell(_reports(chosen.files, findings), chosen.format)


def check_catalogues(chosen: argparse.Namespace) -> int:
    """Check catalogue files; return the exit code."""
    reports = _reports(chosen.files, lambda source: catalogue_findings(source, deployed=chosen.deployed))
    return tell(reports, chosen.format)


def _reports(files: list[Path], find: Callable[[Source], Iterable[Finding]]) -> list[FileReport]:
    reports = []
    for path in files:
        try:
            source = read_source(path)
        except UnusableFile as unusable:
            reports.append(FileReport(path=path, unusable=unusable))
        else:
            reports.append(placed(source, find(source)))
    return reports


_nothing_known: ResolveContract = lambda _action: ()  # noqa: E731 -- a function of one answer


def _not_checked(*, catalogue: Path | None, roles: tuple[str, ...] | None) -> Iterable[Finding]:
    if catalogue is None:
        yield _skipped("Actions weren't held against contracts; name a catalogue with --catalogue.")
    if roles is None:
        yield _skipped("Roles weren't held against those that exist; name them with --roles.")


def _skipped(message: str) -> Finding:
    return Finding(code="NOT_CHECKED", pointer="", message=message, severity=Severity.INFORMATION)
