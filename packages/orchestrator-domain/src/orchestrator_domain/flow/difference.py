"""What a version of a flow changes: its parts, what its decisions answer, and which inputs it takes."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Final

from attrs import frozen

from orchestrator_domain.decision.difference import DecisionDifference, decision_difference
from orchestrator_domain.exact_json.canonical import canonical_json
from orchestrator_domain.exact_json.schema import InvalidSchema, compile_schema
from orchestrator_domain.exact_json.schema_engine import SHARED_PREFIX
from orchestrator_domain.exact_json.schema_example import example_of
from orchestrator_domain.exact_json.schema_keywords import subschemas
from orchestrator_domain.exact_json.schema_sets import admitted_values
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue
from orchestrator_domain.flow.definition import FlowDefinition

ADDED: Final = "added"
REMOVED: Final = "removed"
CHANGED: Final = "changed"


@frozen(kw_only=True)
class PartChange:
    """A part that was added, removed or changed; `members` are those that differ."""

    noun: str
    key: str
    change: str
    members: tuple[str, ...] = ()


@frozen(kw_only=True)
class DecisionChange:
    """What a decision of both versions answers differently."""

    decision: str
    difference: DecisionDifference


@frozen(kw_only=True)
class InputChange:
    """Values that stop or start being accepted at a place, as a schema of exactly those; None where it isn't known."""

    place: str
    starts: bool
    values: JsonValue
    example: JsonValue | Absent = ABSENT


@frozen(kw_only=True)
class FlowDifference:
    parts: tuple[PartChange, ...] = ()
    decisions: tuple[DecisionChange, ...] = ()
    inputs: tuple[InputChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.parts or self.decisions or self.inputs)


def flow_difference(old: FlowDefinition, new: FlowDefinition) -> FlowDifference:
    """Compare two versions of a flow, whatever order their parts are written in."""
    return FlowDifference(
        parts=tuple(_parts(old.document, new.document)),
        decisions=tuple(_decisions(old, new)),
        inputs=tuple(_inputs(old, new)),
    )


_SINGLE: Final = ("flowKey", "title", "description", "initialState", "creation", "dataSchema")
_LISTS: Final[Mapping[str, tuple[str, Callable[[JsonObject], str]]]] = {
    "states": ("state", lambda part: str(part["key"])),
    "events": ("event", lambda part: str(part["key"])),
    "transitions": ("transition", lambda part: str(part["id"])),
    "decisions": ("decision", lambda part: str(part["id"])),
    "tasks": ("task", lambda part: f"{part['state']} {part['event']}"),
    "restrictedData": ("restricted path", lambda part: str(part["path"])),
}


def _parts(old: JsonObject, new: JsonObject) -> Iterator[PartChange]:
    for member in _SINGLE:
        yield from _compared("member", member, old.get(member, ABSENT), new.get(member, ABSENT))
    for member, (noun, key_of) in _LISTS.items():
        yield from _keyed(noun, _by_key(old.get(member), key_of), _by_key(new.get(member), key_of))
    yield from _keyed("schema", _object(old.get("schemas")), _object(new.get("schemas")))


def _keyed(noun: str, old: Mapping[str, JsonValue], new: Mapping[str, JsonValue]) -> Iterator[PartChange]:
    for key in dict.fromkeys((*old, *new)):
        yield from _compared(noun, key, old.get(key, ABSENT), new.get(key, ABSENT))


def _compared(noun: str, key: str, old: JsonValue | Absent, new: JsonValue | Absent) -> Iterator[PartChange]:
    if isinstance(old, Absent) or isinstance(new, Absent):
        if old is not new:
            yield PartChange(noun=noun, key=key, change=ADDED if old is ABSENT else REMOVED)
    elif canonical_json(old) != canonical_json(new):
        yield PartChange(noun=noun, key=key, change=CHANGED, members=tuple(_differing(old, new)))


def _differing(old: JsonValue, new: JsonValue) -> Iterator[str]:
    before, after = _object(old), _object(new)
    for member in dict.fromkeys((*before, *after)):
        same = member in before and member in after
        if not same or canonical_json(before[member]) != canonical_json(after[member]):
            yield member


def _by_key(parts: JsonValue, key_of: Callable[[JsonObject], str]) -> dict[str, JsonValue]:
    """Name each part; a key that is used again (two tasks of one event) gets its number."""
    named: dict[str, JsonValue] = {}
    for part in parts if isinstance(parts, list) else ():
        key = key_of(_object(part))
        named[key if key not in named else f"{key} ({len(named)})"] = part
    return named


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _decisions(old: FlowDefinition, new: FlowDefinition) -> Iterator[DecisionChange]:
    for before in old.decisions:
        after = new.decision(before.id)
        if after is None or after == before:
            continue
        difference = decision_difference(before, after)
        if difference.regions or not difference.complete:
            yield DecisionChange(decision=before.id, difference=difference)


def _inputs(old: FlowDefinition, new: FlowDefinition) -> Iterator[InputChange]:
    shared_old = old.schemas
    renamed = {f"{_NEW}{name}": _renamed(schema) for name, schema in new.schemas.items()}
    for place, before, after in _schemas_of_both(old, new):
        if canonical_json([before, dict(shared_old)]) == canonical_json([after, dict(new.schemas)]):
            continue
        one, other = _Taken(schema=before, shared=shared_old), _Taken(schema=_renamed(after), shared=renamed)
        yield from _change(place, one, other, starts=False)
        yield from _change(place, other, one, starts=True)


def _schemas_of_both(old: FlowDefinition, new: FlowDefinition) -> Iterator[tuple[str, JsonValue, JsonValue]]:
    for event in old.events:
        counterpart = new.event(event.key)
        if counterpart is not None:
            yield f"event {event.key}", event.input_schema, counterpart.input_schema
    if old.creation is not None and new.creation is not None:
        yield "creation", old.creation.input_schema, new.creation.input_schema
    if old.data_schema is not None or new.data_schema is not None:
        yield "data", _or_anything(old.data_schema), _or_anything(new.data_schema)
    for task in old.tasks:
        others = new.tasks_for(task.state, task.event)
        if len(others) == 1 == len(old.tasks_for(task.state, task.event)):
            place = f"task {task.state} {task.event}"
            yield place, _or_anything(task.input_schema), _or_anything(others[0].input_schema)


def _or_anything(schema: JsonValue | None) -> JsonValue:
    return True if schema is None else schema


@frozen(kw_only=True)
class _Taken:
    schema: JsonValue
    shared: Mapping[str, JsonValue]

    def accepts(self, value: JsonValue) -> bool:
        return compile_schema(self.schema, shared=self.shared).accepts(value)


def _change(place: str, one: _Taken, other: _Taken, *, starts: bool) -> Iterator[InputChange]:
    """Tell what `one` takes and `other` doesn't."""
    taken = admitted_values(one.schema, shared=one.shared)
    kept = admitted_values(other.schema, shared=other.shared)
    lost = None if taken is None or kept is None else taken.without(kept)
    if lost is False:
        return
    try:
        example = example_of(
            one.schema if lost is None else lost,
            lambda value: one.accepts(value) and not other.accepts(value),
        )
    except InvalidSchema:
        example = ABSENT
    yield InputChange(place=place, starts=starts, values=lost, example=example)


_NEW: Final = "~new-"


def _renamed(schema: JsonValue) -> JsonValue:
    """Return the schema with other names for shared schemas, so that those of two versions aren't taken for one."""
    copy = deepcopy(schema)
    for _, found in subschemas(copy):
        reference = found.get("$ref")
        if isinstance(reference, str) and reference.startswith(SHARED_PREFIX):
            found["$ref"] = f"{SHARED_PREFIX}{_NEW}{reference.removeprefix(SHARED_PREFIX)}"
    return copy
