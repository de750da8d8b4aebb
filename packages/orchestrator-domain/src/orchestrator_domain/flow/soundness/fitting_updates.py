"""Updates whose value never satisfies the data's schema at their target, as far as that is known beforehand."""

from collections.abc import Iterator
from typing import Final

from attrs import frozen

from orchestrator_domain.decision.condition import LiteralOperand, PathOperand
from orchestrator_domain.exact_json.schema_excerpt import excerpt_at
from orchestrator_domain.exact_json.schema_sets import surely_disjoint, surely_refuses
from orchestrator_domain.exact_json.value import JsonObject, JsonValue
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import Transition, Update
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.contracts import Resolved
from orchestrator_domain.flow.soundness.examined import Examined, error

_STRINGS: Final[JsonObject] = {"type": "array", "items": {"type": "string"}}
_ACTOR: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string"},
        "roles": _STRINGS,
        "scopes": _STRINGS,
        "attributes": {"type": "object"},
    },
}


@frozen(kw_only=True)
class _Source:
    """What a path reads from: a schema, and the path below it."""

    schema: JsonValue
    tokens: tuple[str, ...]


def fitting_findings(examined: Examined, contracts: Resolved) -> Iterator[Finding]:
    """Yield updates after which the data could never be stored."""
    for transition in examined.flow.transitions:
        for update in transition.updates:
            if not _may_fit(examined, transition, update, contracts):
                message = (
                    f"What this update writes never satisfies the data's schema at {update.target}, "
                    "so the transition could never be completed; correct the value or the schema."
                )
                yield error("UPDATE_NEVER_FITS", examined.place_of(update).child("value"), message)


def _may_fit(examined: Examined, transition: Transition, update: Update, contracts: Resolved) -> bool:
    flow = examined.flow
    if flow.data_schema is None:
        return True
    wanted = excerpt_at(flow.data_schema, update.target.tokens, flow.schemas)
    if wanted is None or wanted.place.resolve(wanted.schema) is False:
        return True
    if isinstance(update.value, LiteralOperand):
        return not surely_refuses(wanted, update.value.value, shared=flow.schemas)
    source = _source(examined, transition, update.value, contracts)
    given = excerpt_at(source.schema, source.tokens, flow.schemas) if source is not None else None
    return given is None or not surely_disjoint([wanted, given], shared=flow.schemas)


def _source(
    examined: Examined, transition: Transition, operand: PathOperand, contracts: Resolved
) -> _Source | None:
    match operand.pointer.tokens:
        case ("results", result, *rest):
            schema = _result_schema(transition, result, contracts)
            return None if schema is None else _Source(schema=schema, tokens=tuple(rest))
        case ("event", "data", *rest):
            event = examined.flow.event(transition.event)
            return None if event is None else _Source(schema=event.input_schema, tokens=tuple(rest))
        case ("request", "data", *rest) if examined.flow.data_schema is not None:
            return _Source(schema=examined.flow.data_schema, tokens=tuple(rest))
        case ("actor", *rest):
            return _Source(schema=_ACTOR, tokens=tuple(rest))
        case _:
            return None


def _result_schema(transition: Transition, result: str, contracts: Resolved) -> JsonValue | None:
    for action in transition.actions:
        contract = contracts.get(id(action))
        if action.result_key == result and isinstance(contract, ActionContract):
            return contract.output_schema
    return None
