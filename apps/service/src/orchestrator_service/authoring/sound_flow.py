"""Flows in files that have to be sound before anything is tried on them."""

from pathlib import Path

from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.flow.contract import ResolveContract
from orchestrator_domain.flow.soundness import FlowSoundness
from orchestrator_service.authoring.sources import UnusableFile, read_source


def sound_document(path: Path, resolve: ResolveContract | None = None) -> JsonObject:
    """Return the document of a flow without errors, its actions held to contracts if they are given.

    Raises UnusableFile with the first error and its place.
    """
    source = read_source(path)
    errors = FlowSoundness(resolve_contract=resolve or (lambda _: ())).validate(source.document).errors
    if errors:
        first = errors[0]
        message = f"{first.code}: {first.message} ('orchestrator flow validate' tells all findings.)"
        raise UnusableFile(path, message, source.positions.of(first.pointer))
    assert isinstance(source.document, dict), "a flow without errors is an object"
    return source.document
