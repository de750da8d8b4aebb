"""Schemas that nothing satisfies, each alone and those that are enforced together."""

from collections.abc import Iterator
from typing import Final

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.schema_excerpt import Excerpt
from orchestrator_domain.exact_json.schema_sets import cases_of, surely_disjoint, unsatisfiable_places
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error, warning
from orchestrator_domain.flow.soundness.schemas import placed_schemas

_ANY_OBJECT: JsonObject = {"type": "object"}


_CASES_MAX: Final = 2**17


def is_too_much_to_reason_about(examined: Examined) -> bool:
    """Tell whether all schemas together, with each update's look at the data's schema, could take many seconds."""
    flow = examined.flow
    cases = sum(cases_of(schema, shared=flow.schemas) for schema, _ in placed_schemas(examined))
    updates = sum(len(transition.updates) for transition in flow.transitions)
    of_data = 0 if flow.data_schema is None else cases_of(flow.data_schema, shared=flow.schemas)
    return cases + updates * of_data > _CASES_MAX


def satisfiability_findings(examined: Examined) -> Iterator[Finding]:
    """Yield schemas that admit no value, as far as that is known, and pairs that no object satisfies together.

    For flows whose schemas compile.
    """
    hopeless = set()
    for schema, place in placed_schemas(examined):
        for at, is_false in unsatisfiable_places(schema, shared=examined.flow.schemas).items():
            if not at:
                hopeless.add(place)
                yield error(
                    "UNSATISFIABLE_SCHEMA", place, "Nothing satisfies this schema; correct or remove it."
                )
            elif not is_false:
                message = (
                    "Nothing satisfies this part of the schema; correct it, or write false if that is meant."
                )
                yield warning("UNSATISFIABLE_SCHEMA", Pointer.parse(f"{place}{at}"), message)
    yield from _together(examined, hopeless)


def _together(examined: Examined, hopeless: set[Pointer]) -> Iterator[Finding]:
    for schemas, place, noun in _enforced_together(examined):
        if place not in hopeless and _disjoint(examined, schemas):
            yield error("UNSATISFIABLE_SCHEMA", place, f"No object satisfies {noun}; correct one of them.")


def _enforced_together(examined: Examined) -> Iterator[tuple[list[JsonValue], Pointer, str]]:
    flow, root = examined.flow, Pointer.root()
    if flow.data_schema is not None:
        yield [flow.data_schema], root.child("dataSchema"), "this schema"
        if flow.creation is None:
            untouched = _without_targets(examined)
            noun = "the data's schema without what updates write, so no request could be created"
            yield [flow.data_schema, untouched], root.child("dataSchema"), noun
        else:
            place = examined.place_of(flow.creation).child("inputSchema")
            yield [flow.data_schema, flow.creation.input_schema], place, "this schema and the data's schema"
    for event in flow.events:
        yield [event.input_schema], examined.place_of(event).child("inputSchema"), "this schema"
    for task in flow.tasks:
        asked = flow.event(task.event)
        if task.input_schema is not None and asked is not None:
            place = examined.place_of(task).child("inputSchema")
            yield [asked.input_schema, task.input_schema], place, "this schema and that of its event"


def _disjoint(examined: Examined, schemas: list[JsonValue]) -> bool:
    excerpts = [Excerpt(schema=schema) for schema in (_ANY_OBJECT, *schemas)]
    return surely_disjoint(excerpts, shared=examined.flow.schemas)


def _without_targets(examined: Examined) -> JsonObject:
    """Return a schema of the data that holds nothing at any target."""
    forbidden: list[JsonValue] = []
    for transition in examined.flow.transitions:
        for update in transition.updates:
            below: JsonValue = False
            for token in reversed(update.target.tokens):
                below = {"properties": {token: below}}
            forbidden.append(below)
    return {"allOf": forbidden} if forbidden else {}
