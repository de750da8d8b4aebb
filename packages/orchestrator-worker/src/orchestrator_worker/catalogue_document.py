"""A catalogue file read into typed values, every fault of it found at once."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import cast

from attrs import field, frozen

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import CompiledSchema, compile_schema
from orchestrator_domain.exact_json.text import MalformedJson, parse_json
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_worker.catalogue_fault import CatalogueFault, CatalogueInvalid
from orchestrator_worker.catalogue_soundness import (
    document_service_faults,
    duplicate_faults,
    integration_faults,
)
from orchestrator_worker.deployment_values import DeploymentValues
from orchestrator_worker.endpoint_reading import endpoint_of
from orchestrator_worker.endpoint_soundness import endpoint_faults
from orchestrator_worker.integration_reading import (
    DocumentService,
    Integration,
    document_service_of,
    integration_of,
)
from orchestrator_worker.route import Endpoint

SCHEMA_FILE = "integration-catalogue.schema.json"


@frozen(kw_only=True)
class CatalogueDocument:
    """A sound catalogue: every name in it is known and every schema compiles."""

    endpoints: Mapping[str, Endpoint] = field(factory=dict)
    integrations: tuple[Integration, ...] = ()
    document_service: DocumentService | None = None


def read_catalogue(text: bytes | str, *, values: DeploymentValues) -> CatalogueDocument:
    """Read a catalogue whose references `values` can look up; raise CatalogueInvalid with every fault of it.

    An entry that breaks the format is reported for that alone, and the other entries in full.
    """
    document = _parsed(text)
    broken = tuple(_format_faults(document))
    faults = (*broken, *_soundness_faults(document, broken, values))
    if faults:
        raise CatalogueInvalid(faults)
    return _document_of(cast("JsonObject", document))


def _parsed(text: bytes | str) -> JsonValue:
    try:
        return parse_json(text)
    except MalformedJson as fault:
        place = "" if fault.line is None else f" (line {fault.line}, column {fault.column})"
        raise CatalogueInvalid(
            (
                CatalogueFault(
                    pointer=fault.pointer or "", code="MALFORMED_JSON", message=fault.message + place
                ),
            )
        ) from None


def _format_faults(document: JsonValue) -> Iterator[CatalogueFault]:
    for violation in catalogue_schema().named_violations(document):
        yield CatalogueFault(pointer=violation.pointer, code="FORMAT", message=violation.message)


@cache
def catalogue_schema() -> CompiledSchema:
    """Return the published schema of catalogue files, compiled."""
    schema = parse_json(files("orchestrator_worker").joinpath(SCHEMA_FILE).read_bytes())
    return compile_schema(schema)


def _soundness_faults(
    document: JsonValue, broken: tuple[CatalogueFault, ...], values: DeploymentValues
) -> Iterator[CatalogueFault]:
    places = [Pointer.parse(fault.pointer) for fault in broken]
    entries = _Entries(document=document, broken=places)
    known = entries.endpoint_names()
    for place, endpoint in entries.within("endpoints"):
        yield from endpoint_faults(endpoint, place, values)
    for place, integration in entries.within("integrations"):
        yield from integration_faults(integration, place, known)
    yield from duplicate_faults(entries.within("integrations"))
    for place, service in entries.at("documentService"):
        yield from document_service_faults(service, place, known)


@frozen(kw_only=True)
class _Entries:
    """The parts of a document that keep to the format, each with its place."""

    document: JsonValue
    broken: list[Pointer]

    def endpoint_names(self) -> frozenset[str]:
        endpoints = self.document.get("endpoints") if isinstance(self.document, dict) else None
        return frozenset(endpoints) if isinstance(endpoints, dict) else frozenset()

    def at(self, member: str) -> Iterator[tuple[Pointer, JsonObject]]:
        if isinstance(self.document, dict):
            yield from self._sound(Pointer.root().child(member), self.document.get(member))

    def within(self, member: str) -> Iterator[tuple[Pointer, JsonObject]]:
        if not isinstance(self.document, dict):
            return
        place, container = Pointer.root().child(member), self.document.get(member)
        if isinstance(container, dict):
            for name, entry in container.items():
                yield from self._sound(place.child(name), entry)
        elif isinstance(container, list):
            for index, entry in enumerate(container):
                yield from self._sound(place.child(index), entry)

    def _sound(self, place: Pointer, entry: JsonValue) -> Iterator[tuple[Pointer, JsonObject]]:
        if isinstance(entry, dict) and not any(fault.starts_with(place) for fault in self.broken):
            yield place, entry


def _document_of(document: JsonObject) -> CatalogueDocument:
    endpoints = cast("dict[str, JsonObject]", document.get("endpoints", {}))
    read = {name: endpoint_of(name, endpoint) for name, endpoint in endpoints.items()}
    integrations = cast("list[JsonObject]", document.get("integrations", []))
    service = cast("JsonObject | None", document.get("documentService"))
    return CatalogueDocument(
        endpoints=read,
        integrations=tuple(integration_of(integration, read) for integration in integrations),
        document_service=None if service is None else document_service_of(service, read),
    )
