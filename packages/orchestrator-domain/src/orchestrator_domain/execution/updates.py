"""Applying a transition's updates to a copy of the request's data.

All values come from the snapshot that was accepted and from the results; no update sees what another one wrote.
"""

from collections.abc import Sequence

from attrs import frozen

from orchestrator_domain.decision.compiled import resolve_operand
from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import ABSENT, Absent, JsonObject, JsonValue
from orchestrator_domain.flow.definition import Update

_APPEND = "-"
"""RFC 6901's place after the last element; refused even where it could name a member (flow-language, Updates)."""


@frozen(kw_only=True)
class UpdateFault:
    """An update that can't be carried out; `pointer` is its target, `reason` a sentence without values."""

    pointer: str
    reason: str


def updated_data(
    data: JsonObject, updates: Sequence[Update], context: EvaluationContext, *, output: str | None
) -> JsonObject | UpdateFault:
    """Return the data after the updates that apply to the decision's `output`; `data` itself stays as it is.

    Missing object parents are created; an array element must exist already; `-` is refused.
    """
    result: JsonValue = data
    for update in updates:
        if not update.applies_to(output):
            continue
        value = resolve_operand(update.value, context)
        if isinstance(value, Absent):
            return UpdateFault(pointer=str(update.target), reason="The update's value is absent.")
        written = _written(result, update.target.tokens, value)
        if isinstance(written, Absent):
            return UpdateFault(pointer=str(update.target), reason="The update's target can't be reached.")
        result = written
    assert isinstance(result, dict)
    return result


def _written(parent: JsonValue | Absent, tokens: tuple[str, ...], value: JsonValue) -> JsonValue | Absent:
    if not tokens:
        return value
    head, rest = tokens[0], tokens[1:]
    if head == _APPEND:
        return ABSENT
    if isinstance(parent, Absent):
        parent = {}
    if isinstance(parent, dict):
        return _with_member(parent, head, _written(parent.get(head, ABSENT), rest, value))
    if isinstance(parent, list):
        return _with_element(parent, head, rest, value)
    return ABSENT


def _with_member(parent: JsonObject, key: str, member: JsonValue | Absent) -> JsonObject | Absent:
    return ABSENT if isinstance(member, Absent) else {**parent, key: member}


def _with_element(
    parent: list[JsonValue], head: str, rest: tuple[str, ...], value: JsonValue
) -> list[JsonValue] | Absent:
    present = Pointer.root().child(head).resolve(parent)
    if isinstance(present, Absent):
        return ABSENT
    element = _written(present, rest, value)
    if isinstance(element, Absent):
        return ABSENT
    index = int(head)
    return [*parent[:index], element, *parent[index + 1 :]]
