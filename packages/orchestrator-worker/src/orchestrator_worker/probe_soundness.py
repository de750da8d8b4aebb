"""What the format can't say of a probe: whether it is needed, asks for the one call, and could ever confirm it."""

from collections.abc import Iterator, Mapping
from typing import cast

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_worker.catalogue_fault import CatalogueFault


def probe_faults(entry: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    """Find what would make a probe superfluous, blind or useless; `place` is the probe's."""
    probe = cast("JsonObject", entry["probe"])
    if entry["effect"] == "READ_ONLY":
        message = "What only reads leaves no effect in doubt; leave the probe out."
        yield _fault(place, "PROBE_NOT_NEEDED", message)
    yield from _key_faults(probe, place)
    answers = cast("dict[str, JsonObject]", probe["answers"])
    confirming = {status: answer for status, answer in answers.items() if answer["kind"] == "result"}
    if not confirming:
        message = "No answer confirms anything; give one the kind result."
        yield _fault(place.child("answers"), "PROBE_NEVER_CONFIRMS", message)
    for status, answer in confirming.items():
        yield from _confirmation_faults(entry, status, answer, place.child("answers").child(status))
    yield from _time_faults(probe, place)


def _key_faults(probe: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    request = cast("JsonObject", probe["request"])
    if _asks_for_key(request, "pathFields"):
        return
    if not _asks_for_key(request, "queryFields"):
        message = 'No field is {"call": "idempotencyKey"}, so another call could be taken for this one.'
        yield _fault(place.child("request"), "PROBE_WITHOUT_KEY", message)
    elif "keyEcho" not in probe:
        message = (
            "A query field may be overlooked: say in keyEcho where a confirming answer repeats the key, or put the key "
            "into the path."
        )
        yield _fault(place, "PROBE_WITHOUT_ECHO", message)


def _asks_for_key(request: JsonObject, member: str) -> bool:
    return any(
        "call" in source for source in cast("Mapping[str, JsonObject]", request.get(member, {})).values()
    )


def _confirmation_faults(
    entry: JsonObject, status: str, answer: JsonObject, place: Pointer
) -> Iterator[CatalogueFault]:
    if not status.startswith("2"):
        message = "Only a 2xx answer confirms; others may come from something that never saw the call."
        yield _fault(place, "PROBE_CONFIRMS_WITHOUT_SUCCESS", message)
    fields = cast("dict[str, JsonObject]", answer["fields"])
    schema = cast("JsonObject", entry["outputSchema"])
    properties, required = schema.get("properties"), schema.get("required")
    needed_members = required if isinstance(required, list) else []
    # What may be missing tells nothing: an empty object would confirm. What has no source at all is told below.
    if all("literal" in fields.get(name, {}) for name in map(str, needed_members)):
        message = (
            "At least one member that the output schema requires has to be read from the answer, or any page would "
            "confirm the effect."
        )
        yield _fault(place.child("fields"), "PROBE_CONFIRMS_BLINDLY", message)
    for name in fields:
        if isinstance(properties, dict) and name not in properties:
            message = "The output schema's properties have no such member."
            yield _fault(place.child("fields").child(name), "UNKNOWN_OUTPUT", message)
    for needed in needed_members:
        if needed not in fields:
            message = (
                f"The output schema requires {needed}, so without a source of it nothing is ever confirmed."
            )
            yield _fault(place.child("fields"), "UNMAPPED_OUTPUT", message)


def _time_faults(probe: JsonObject, place: Pointer) -> Iterator[CatalogueFault]:
    asked, backoff = probe.get("askForSeconds"), probe.get("backoffSeconds")
    written = [
        name for name, value in (("backoffSeconds", backoff), ("askForSeconds", asked)) if value is not None
    ]
    if written and _number(backoff, 5) > _number(asked, 600):
        message = "The first wait is longer than it is asked for, so it would be asked once alone."
        yield _fault(place.child(written[0]), "PROBE_TIMES", message)


def _number(value: object, default: int) -> float:
    return float(default if value is None else cast("int", value))


def _fault(place: Pointer, code: str, message: str) -> CatalogueFault:
    return CatalogueFault(pointer=str(place), code=code, message=message)
