"""Cases as JSON documents, every fault with its place.

`{"id"?, "state"?, "data"?, "events": [{"event", "data"?, "results"?, "actor"?, "expected"?}, …]}`; a case of one event may
be written flat, as `{"id"?, "state"?, "data"?, "event", "eventData"?, "results"?, "actor"?, "expected"?}`. Results are by action
id, `expected` is `{"outcome"?, "state"?, "data"?, "error"?}`.
"""

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen
from cattrs.gen import make_dict_structure_fn

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.structuring import Unfit, strict_converter, structured
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.identifiers import ActionKey, EventKey, StateKey
from orchestrator_domain.simulation.case import Case, Expected, SentEvent

_SOMEBODY: Final[JsonObject] = {"subject": "simulation"}


@frozen(kw_only=True)
class _Flat:
    """A case of one event."""

    id: str | None = None
    state: StateKey | None = None
    data: JsonObject = field(factory=dict)
    event: EventKey
    eventData: JsonObject = field(factory=dict)  # noqa: N815 -- the member's name
    results: Mapping[ActionKey, JsonObject] = field(factory=dict)
    actor: Actor | None = None
    expected: Expected | None = None


def read_case(document: JsonValue) -> Case:
    """Return the case that a document spells; raise InvalidInput with the place of its first fault."""
    if isinstance(document, dict) and "events" in document:
        case = structured(document, Case, _CONVERTER)
        if not case.events:
            raise InvalidInput("The events are a list of at least one event.", pointer="/events")
        return case
    flat = structured(document, _Flat, _CONVERTER)
    sent = SentEvent(
        event=flat.event,
        data=flat.eventData,
        results=flat.results,
        actor=flat.actor,
        expected=flat.expected,
    )
    return Case(id=flat.id, state=flat.state, data=flat.data, events=(sent,))


def _actor(value: Any, kind: type[Actor]) -> Actor:
    """Suppose somebody where the case names roles but no subject."""
    if not isinstance(value, dict):
        raise Unfit("An object is expected here.")
    return _STRUCTURE_ACTOR({**_SOMEBODY, **value}, kind)


_CONVERTER: Final = strict_converter()
_STRUCTURE_ACTOR: Final = make_dict_structure_fn(Actor, _CONVERTER)
_CONVERTER.register_structure_hook(Actor, _actor)
