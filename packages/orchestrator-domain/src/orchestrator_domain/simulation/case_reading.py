"""Cases as JSON documents, every fault with its place.

`{"id"?, "state"?, "data"?, "events": [{"event", "data"?, "results"?, "actor"?, "expected"?}, …]}`; a case of one event may
be written flat, as `{"id"?, "state"?, "data"?, "event", "eventData"?, "results"?, "actor"?, "expected"?}`. Results are by action
id, `expected` is `{"outcome"?, "state"?, "data"?, "error"?}`.
"""

from collections.abc import Collection, Mapping
from typing import Final

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.value import JsonObject, JsonValue, escaped_token
from orchestrator_domain.identifiers import ActionKey, BusinessScope, EventKey, Role, StateKey, Subject
from orchestrator_domain.simulation.case import Case, Expected, SentEvent

_OF_REQUEST: Final = ("id", "state", "data")
_OF_EVENT: Final = ("event", "data", "results", "actor", "expected")
_FLAT: Final = (*_OF_REQUEST, "event", "eventData", "results", "actor", "expected")


def read_case(document: JsonValue) -> Case:
    """Return the case that a document spells; raise InvalidInput with the place of its first fault."""
    if not isinstance(document, dict):
        raise InvalidInput("A case is a JSON object.", pointer="")
    several = "events" in document
    _only(document, (*_OF_REQUEST, "events") if several else _FLAT, "")
    events = _events(document) if several else (_sent(document, "", data_member="eventData"),)
    state = _text_or_none(document, "state", "")
    return Case(
        id=_text_or_none(document, "id", ""),
        state=None if state is None else StateKey(state),
        data=_object(document, "data", ""),
        events=events,
    )


def _events(document: JsonObject) -> tuple[SentEvent, ...]:
    written = document["events"]
    if not isinstance(written, list) or not written:
        raise InvalidInput("The events are a list of at least one event.", pointer="/events")
    events = []
    for number, event in enumerate(written):
        at = f"/events/{number}"
        if not isinstance(event, dict):
            raise InvalidInput("An event is an object.", pointer=at)
        _only(event, _OF_EVENT, at)
        events.append(_sent(event, at, data_member="data"))
    return tuple(events)


def _sent(written: JsonObject, at: str, *, data_member: str) -> SentEvent:
    event = _text_or_none(written, "event", at)
    if event is None:
        raise InvalidInput("The case names no event.", pointer=f"{at}/event")
    return SentEvent(
        event=EventKey(event),
        data=_object(written, data_member, at),
        results=_results(written, at),
        actor=_actor(written, at) if "actor" in written else None,
        expected=_expected(written, at) if "expected" in written else None,
    )


def _results(written: JsonObject, at: str) -> Mapping[ActionKey, JsonObject]:
    results = _object(written, "results", at)
    return {ActionKey(action): _object(results, action, f"{at}/results") for action in results}


def _expected(written: JsonObject, at: str) -> Expected:
    expected, at = _object(written, "expected", at), f"{at}/expected"
    _only(expected, ("outcome", "state", "data", "error"), at)
    state = _text_or_none(expected, "state", at)
    return Expected(
        outcome=_text_or_none(expected, "outcome", at),
        state=None if state is None else StateKey(state),
        data=_object(expected, "data", at) if "data" in expected else None,
        error=_text_or_none(expected, "error", at),
    )


def _actor(written: JsonObject, at: str) -> Actor:
    actor, at = _object(written, "actor", at), f"{at}/actor"
    _only(actor, ("subject", "roles", "scopes", "attributes"), at)
    return Actor(
        subject=Subject(_text_or_none(actor, "subject", at) or "simulation"),
        roles=frozenset(map(Role, _texts(actor, "roles", at))),
        scopes=frozenset(map(BusinessScope, _texts(actor, "scopes", at))),
        attributes=_object(actor, "attributes", at),
    )


def _only(written: JsonObject, known: Collection[str], at: str) -> None:
    for member in written:
        if member not in known:
            place = f"{at}/{escaped_token(member)}"
            raise InvalidInput(f"There is no such member; there are: {', '.join(known)}.", pointer=place)


def _text_or_none(written: JsonObject, member: str, at: str) -> str | None:
    value = written.get(member)
    if member in written and not isinstance(value, str):
        raise InvalidInput("The member is a string.", pointer=f"{at}/{member}")
    return value if isinstance(value, str) else None


def _object(written: JsonObject, member: str, at: str) -> JsonObject:
    value = written.get(member, {})
    if not isinstance(value, dict):
        raise InvalidInput("The member is an object.", pointer=f"{at}/{escaped_token(member)}")
    return value


def _texts(written: JsonObject, member: str, at: str) -> list[str]:
    value = written.get(member, [])
    if not isinstance(value, list):
        raise InvalidInput("The member is a list of strings.", pointer=f"{at}/{member}")
    texts = [each for each in value if isinstance(each, str)]
    if len(texts) < len(value):
        raise InvalidInput("The member is a list of strings.", pointer=f"{at}/{member}")
    return texts
