"""How the shares of a decision's outcomes move as a numeric literal of its rules moves."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from attrs import frozen

from orchestrator_domain.decision.context import EvaluationContext
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.outcome import (
    DecisionAmbiguous,
    DecisionFailed,
    DecisionMade,
    DecisionResult,
)
from orchestrator_domain.errors import InvalidInput
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import Absent, JsonObject, JsonValue
from orchestrator_domain.flow.document.decisions import read_decision
from orchestrator_domain.flow.document.reading import Reading, Unreadable
from orchestrator_domain.identifiers import DecisionKey
from orchestrator_domain.simulation.bulk import evaluate_many


@frozen(kw_only=True)
class Threshold:
    """Numeric literals of one decision that move together, as places in the flow's document.

    `written` is that decision as it stands there.
    """

    places: tuple[Pointer, ...]
    decision: DecisionKey
    written: JsonValue


def threshold_at(document: JsonObject, places: Sequence[Pointer]) -> Threshold:
    """Return the literals at these places; raise InvalidInput unless they are numeric and of one decision."""
    numbers = {
        place.tokens[1] for place in places if len(place.tokens) > 2 and place.tokens[0] == "decisions"
    }
    for place in places:
        value = place.resolve(document)
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or place.tokens[-1] != "literal":
            raise InvalidInput("There is no numeric literal at this place of the flow.", pointer=str(place))
    if len(numbers) != 1 or any(place.tokens[0] != "decisions" for place in places):
        raise InvalidInput("Literals that move together are of one decision.", pointer=str(places[0]))
    (number,) = numbers
    written = Pointer(tokens=("decisions", number)).resolve(document)
    assert not isinstance(written, Absent), "the places lie within it"
    return Threshold(places=tuple(places), decision=_read(written).id, written=written)


def outcome_shares(
    threshold: Threshold, value: int | Decimal, contexts: Iterable[EvaluationContext]
) -> Mapping[str, int]:
    """Count the decision's outputs over the contexts with this value in place; errors by their codes."""
    written = threshold.written
    for place in threshold.places:
        written = _with(written, place.tokens[2:], value)
    return Counter(map(_name, evaluate_many(_read(written), contexts)))


def _read(written: JsonValue) -> DecisionDefinition:
    """Read the decision alone, since a flow may be large and values may be many."""
    decision = read_decision(Reading(), written, Pointer.root())
    assert not isinstance(decision, Unreadable), "the flow was read before, and only literals were changed"
    return decision


def _name(result: DecisionResult) -> str:
    match result:
        case DecisionMade(output=output):
            return output
        case DecisionAmbiguous():
            return "AMBIGUOUS_DECISION"
        case DecisionFailed():
            return "EVALUATION_ERROR"


def _with(holder: JsonValue, tokens: Sequence[str], value: JsonValue) -> JsonValue:
    """Return a copy that holds `value` at a place that exists."""
    if not tokens:
        return value
    token, *rest = tokens
    if isinstance(holder, list):
        index = int(token)
        return [*holder[:index], _with(holder[index], rest, value), *holder[index + 1 :]]
    assert isinstance(holder, dict), "the place was found before"
    return {**holder, token: _with(holder[token], rest, value)}
