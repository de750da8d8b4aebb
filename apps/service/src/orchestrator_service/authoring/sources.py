"""Files that commands read, with the places of what is in them."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from attrs import define

from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.exact_json.positions import Position, Positions, positions_in
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.definition import FlowDefinition
from orchestrator_domain.flow.document import flow_findings


class UnusableFile(OrchestratorError):
    """A file can't be read, or doesn't hold what the command needs."""

    code = "UNUSABLE_FILE"

    def __init__(self, path: Path, message: str, position: Position | None = None) -> None:
        place = "" if position is None else f":{position.line}:{position.column}"
        super().__init__(f"{path}{place}: {message}")
        self.path = path
        self.position = position
        self.reason = message


class FaultyFile(OrchestratorError):
    """A file doesn't hold what the command needs; `faults` holds a sentence for each fault, with its place."""

    code = UnusableFile.code

    def __init__(self, path: Path, faults: Iterable[tuple[Position, str]]) -> None:
        found = sorted((place.line, place.column, told) for place, told in faults)
        self.faults = tuple(f"{path}:{line}:{column}: {told}" for line, column, told in found)
        super().__init__(" ".join(self.faults))


@define(kw_only=True, frozen=True, slots=False)
class Source:
    """One JSON file."""

    path: Path
    text: str
    document: JsonValue

    @cached_property
    def positions(self) -> Positions:
        return positions_in(self.text)


def read_source(path: Path) -> Source:
    """Read a JSON file; raise UnusableFile where it isn't one."""
    try:
        raw = path.read_bytes()
    except OSError as fault:
        raise UnusableFile(path, f"The file can't be read ({fault.strerror}).") from None
    try:
        document = parse_json(raw)
    except MalformedJson as fault:
        place = None if fault.line is None else Position(line=fault.line, column=fault.column or 1)
        raise UnusableFile(path, fault.message, place) from None
    return Source(path=path, text=raw.decode(), document=document)


def read_object(path: Path) -> JsonObject:
    document = read_source(path).document
    if not isinstance(document, dict):
        raise UnusableFile(path, "The file holds no JSON object.", Position(line=1, column=1))
    return document


def read_definition(path: Path) -> FlowDefinition:
    """Read a flow; raise UnusableFile with the first place where it isn't written in the flow language."""
    source = read_source(path)
    definition, findings = flow_findings(source.document)
    if definition is None:
        first = findings[0]
        message = f"{first.code}: {first.message} ('orchestrator flow validate' tells all findings.)"
        raise UnusableFile(path, message, source.positions.of(first.pointer))
    return definition
