"""What the format of a catalogue can't say: names that must exist, schemas that must compile, times that must fit.

Each function takes an entry that keeps to the format.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import cast

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema import check_schema
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_worker.catalogue_fault import CatalogueFault
from orchestrator_worker.integration_reading import timeouts_of, whole
from orchestrator_worker.probe_soundness import probe_faults

PATH_FIELD = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")
_METHODS_WITHOUT_BODY = ("GET", "DELETE")


def integration_faults(
    entry: JsonObject, place: Pointer, endpoints: Collection[str]
) -> Iterator[CatalogueFault]:
    """Find everything that would keep an integration from being called or judged."""
    yield from _endpoint_name_faults(entry, place, endpoints)
    yield from _object_schema_faults(entry["inputSchema"], place.child("inputSchema"))
    yield from _object_schema_faults(entry["outputSchema"], place.child("outputSchema"))
    yield from _key_memory_faults(entry, place)
    yield from _request_faults(entry, entry["request"], place.child("request"))
    yield from _answer_faults(entry, place.child("answers"))
    if "probe" in entry:
        probe = cast("JsonObject", entry["probe"])
        yield from _request_faults(entry, probe["request"], place.child("probe").child("request"))
        yield from probe_faults(entry, place.child("probe"))
    yield from _profile_faults(entry, place.child("profiles"))
    yield from _timeout_faults(entry, place.child("timeouts"))


def document_service_faults(
    entry: JsonObject, place: Pointer, endpoints: Collection[str]
) -> Iterator[CatalogueFault]:
    yield from _endpoint_name_faults(entry, place, endpoints)
    yield from _timeout_faults(entry, place.child("timeouts"))


def duplicate_faults(entries: Iterable[tuple[Pointer, JsonObject]]) -> Iterator[CatalogueFault]:
    """Find a version of a contract that is listed twice."""
    seen: set[tuple[JsonValue, int]] = set()
    for place, entry in entries:
        name = (str(entry["integrationKey"]), whole(entry["contractVersion"]))
        if name in seen:
            yield _fault(
                place.child("contractVersion"),
                "DUPLICATE_VERSION",
                "This version of the integration is listed already.",
            )
        seen.add(name)


def _endpoint_name_faults(
    entry: JsonObject, place: Pointer, endpoints: Collection[str]
) -> Iterator[CatalogueFault]:
    if entry["endpoint"] not in endpoints:
        message = "No endpoint of this name is listed under /endpoints."
        yield _fault(place.child("endpoint"), "UNKNOWN_ENDPOINT", message)


def _object_schema_faults(schema: JsonValue, place: Pointer) -> Iterator[CatalogueFault]:
    for fault in check_schema(schema):
        yield _fault(Pointer.parse(f"{place}{fault.pointer}"), fault.code, fault.message)
    if isinstance(schema, dict) and schema.get("type") != "object":
        yield _fault(place, "NOT_AN_OBJECT_SCHEMA", 'Inputs and results are objects: add "type": "object".')


def _key_memory_faults(entry: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    needed = entry["effect"] == "IDEMPOTENT_WRITE"
    if needed and "keyMemorySeconds" not in entry:
        message = "An IDEMPOTENT_WRITE says how long the provider remembers a key; null says for ever."
        yield _fault(place, "KEY_MEMORY", message)
    if not needed and "keyMemorySeconds" in entry:
        message = "Only an IDEMPOTENT_WRITE has a provider that remembers keys; leave this out."
        yield _fault(place.child("keyMemorySeconds"), "KEY_MEMORY", message)


def _request_faults(entry: JsonObject, written: JsonValue, place: Pointer) -> Iterator[CatalogueFault]:
    request = cast("JsonObject", written)
    yield from _path_faults(request, place)
    if request["method"] in _METHODS_WITHOUT_BODY and "bodyFields" in request:
        yield _fault(
            place.child("bodyFields"), "BODY_NOT_SENT", f"A {request['method']} request has no body."
        )
    for member in ("pathFields", "queryFields", "bodyFields"):
        fields = cast("dict[str, JsonObject]", request.get(member, {}))
        for name, source in fields.items():
            where = place.child(member).child(name)
            yield from _source_faults(entry, source, where, essential=member == "pathFields")
            if member != "bodyFields":
                yield from _text_faults(entry, source, where)


def _path_faults(request: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    named = set(PATH_FIELD.findall(str(request["path"])))
    mapped = set(cast("JsonObject", request.get("pathFields", {})))
    for name in sorted(named - mapped):
        yield _fault(
            place.child("path"), "UNMAPPED_PATH_FIELD", f"pathFields has no source for the field {name}."
        )
    for name in sorted(mapped - named):
        message = "The path has no such field."
        yield _fault(place.child("pathFields").child(name), "UNKNOWN_PATH_FIELD", message)
    if any(segment in (".", "..") for segment in str(request["path"]).split("/")):
        yield _fault(place.child("path"), "DOT_SEGMENT", "A path has no '.' and no '..' segment.")


def _source_faults(
    entry: JsonObject, source: JsonObject, place: Pointer, *, essential: bool
) -> Iterator[CatalogueFault]:
    if "input" in source:
        schema = cast("JsonObject", entry["inputSchema"])
        if source["input"] not in _members(schema, "properties"):
            yield _fault(place, "UNKNOWN_INPUT", "The input schema's properties have no such input.")
        elif essential and source["input"] not in _listed(schema, "required"):
            yield _fault(place, "OPTIONAL_PATH_FIELD", "The path needs this input: list it under required.")
    elif "contract" in source and not entry.get("profiles"):
        yield _fault(place, "NO_PROFILES", "The integration has no profiles that could be sent.")


def _text_faults(entry: JsonObject, source: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    """Find what is neither text nor number nor boolean, where only those can be sent."""
    schema = _members(cast("JsonObject", entry["inputSchema"]), "properties").get(str(source.get("input")))
    types = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(source.get("literal"), dict | list) or types in ("object", "array", "null"):
        message = "Paths and queries carry strings, numbers and booleans only."
        yield _fault(place, "NOT_A_SCALAR", message)


def _answer_faults(entry: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    answers = cast("dict[str, JsonObject]", entry.get("answers", {}))
    known = _members(cast("JsonObject", entry["outputSchema"]), "properties")
    for status, answer in answers.items():
        if status.startswith("2") and answer["kind"] != "result":
            yield _fault(place.child(status), "SUCCESS_IS_RESULT", "A 2xx answer always is a result.")
        fields = cast("JsonObject", answer.get("fields", {}))
        for name in fields:
            if name not in known:
                message = "The output schema's properties have no such member."
                yield _fault(place.child(status).child("fields").child(name), "UNKNOWN_OUTPUT", message)


def _profile_faults(entry: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    seen: set[tuple[str, int]] = set()
    for index, profile in enumerate(cast("list[JsonObject]", entry.get("profiles", []))):
        name = (str(profile["profile"]), whole(profile["profileVersion"]))
        if name in seen:
            yield _fault(
                place.child(index), "DUPLICATE_VERSION", "This version of the profile is listed already."
            )
        seen.add(name)


def _timeout_faults(entry: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    timeouts = timeouts_of(entry)
    if timeouts.budget_seconds >= timeouts.connect_seconds + timeouts.answer_seconds:
        return
    written = cast("JsonObject", entry["timeouts"])
    # The place is the first of these that is there; defaults alone always fit.
    named = next(name for name in ("budgetSeconds", "answerSeconds", "connectSeconds") if name in written)
    message = (
        f"The budget of {timeouts.budget_seconds:g} s has to hold the time to connect ({timeouts.connect_seconds:g} s) "
        f"and the time to answer ({timeouts.answer_seconds:g} s)."
    )
    yield _fault(place.child(named), "BUDGET_TOO_SMALL", message)


def _members(schema: JsonObject, name: str) -> JsonObject:
    found = schema.get(name)
    return found if isinstance(found, dict) else {}


def _listed(schema: JsonObject, name: str) -> list[JsonValue]:
    found = schema.get(name)
    return found if isinstance(found, list) else []


def _fault(place: Pointer, code: str, message: str) -> CatalogueFault:
    return CatalogueFault(pointer=str(place), code=code, message=message)
