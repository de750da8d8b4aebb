"""What of a request's data an actor is shown (`restrictedData` of the flow)."""

from orchestrator_domain.actor import Actor
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, JsonObject, JsonValue
from orchestrator_domain.flow.definition import FlowDefinition


def shown_data(data: JsonObject, flow: FlowDefinition, actor: Actor) -> JsonObject:
    """Return the data without the parts that none of the actor's roles may see; `data` itself stays as it is."""
    shown: JsonValue = data
    for restricted in flow.restricted_data:
        if not actor.holds_any(restricted.allowed_roles):
            shown = _without(shown, restricted.path.tokens)
    assert isinstance(shown, dict)
    return shown


def _without(value: JsonValue, tokens: tuple[str, ...]) -> JsonValue:
    if not tokens:
        return {}
    head, rest = tokens[0], tokens[1:]
    if isinstance(value, dict) and head in value:
        if not rest:
            return {key: member for key, member in value.items() if key != head}
        return {**value, head: _without(value[head], rest)}
    if isinstance(value, list):
        return _list_without(value, head, rest)
    return value


def _list_without(value: list[JsonValue], head: str, rest: tuple[str, ...]) -> list[JsonValue]:
    if Pointer.root().child(head).resolve(value) is ABSENT:
        return value
    index = int(head)
    hidden: JsonValue = None if not rest else _without(value[index], rest)
    return [*value[:index], hidden, *value[index + 1 :]]
