"""Paths that conditions, inputs and updates read: allowed at their place, and able to find something."""

from collections.abc import Iterable, Iterator, Sequence

from attrs import field, frozen

from orchestrator_domain.decision.condition import (
    Comparison,
    Condition,
    Existence,
    Membership,
    Operand,
    PathOperand,
)
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition, Transition
from orchestrator_domain.flow.document.reading import nearest
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.conditions import nodes
from orchestrator_domain.flow.soundness.contracts import Resolved
from orchestrator_domain.flow.soundness.examined import Examined, error, warning
from orchestrator_domain.flow.soundness.schema_paths import ImpossiblePath, impossible_path


@frozen(kw_only=True)
class _Sight:
    """What may be read at one place: schemas of the event's data and of each result; True where none is known."""

    transition: Transition
    event_schema: JsonValue
    results: dict[str, JsonValue] = field(factory=dict)


@frozen(kw_only=True)
class _ReadPath:
    pointer: Pointer
    place: Pointer
    asks_existence: bool = False


def mapping_findings(examined: Examined, contracts: Resolved) -> Iterator[Finding]:
    """Yield paths that lead where nothing may be read, and paths that can find nothing."""
    shared = {decision.id: _reads_of_rules(examined, decision) for decision in examined.flow.decisions}
    for transition in examined.flow.transitions:
        event = examined.flow.event(transition.event)
        schema = True if event is None else event.input_schema
        decision = examined.decision_of(transition)
        reads = () if decision is None else shared[decision.id]
        yield from _transition(examined, _Sight(transition=transition, event_schema=schema), reads, contracts)
    yield from _data_paths(examined)


def _reads_of_rules(examined: Examined, decision: DecisionDefinition) -> Sequence[_ReadPath]:
    """Return what the rules read; each user of the decision is judged by it."""
    return [read for rule in decision.rules for read in _reads(examined, rule.when)]


def _transition(
    examined: Examined, sight: _Sight, reads_of_rules: Sequence[_ReadPath], contracts: Resolved
) -> Iterator[Finding]:
    transition = sight.transition
    if transition.guard is not None:
        yield from _found_by(examined, _reads(examined, transition.guard), sight)
    for action in transition.actions:
        for operand in action.inputs.values():
            yield from _found_by(examined, _reads_of_operand(examined, operand), sight)
        if action.result_key is not None:
            sight.results[action.result_key] = _output_schema(action, contracts)
    yield from _found_by(examined, reads_of_rules, sight)
    for update in transition.updates:
        yield from _found_by(examined, _reads_of_operand(examined, update.value), sight)


def _output_schema(action: ActionDefinition, contracts: Resolved) -> JsonValue:
    contract = contracts[id(action)]
    return contract.output_schema if isinstance(contract, ActionContract) else True


def _reads(examined: Examined, condition: Condition) -> Iterator[_ReadPath]:
    for node, _ in nodes(condition):
        match node:
            case Comparison(left=left, right=right) | Membership(left=left, right=right):
                yield from _reads_of_operand(examined, left)
                yield from _reads_of_operand(examined, right)
            case Existence(pointer=pointer):
                place = examined.place_of(node).child("arg").child("path")
                yield _ReadPath(pointer=pointer, place=place, asks_existence=True)
            case _:
                pass


def _reads_of_operand(examined: Examined, operand: Operand) -> Iterator[_ReadPath]:
    if isinstance(operand, PathOperand):
        place = examined.place_of(operand).child("path")
        yield _ReadPath(pointer=operand.pointer, place=place)


def _found_by(examined: Examined, reads: Iterable[_ReadPath], sight: _Sight) -> Iterator[Finding]:
    possible: set[tuple[str, ...]] = set()
    for read in reads:
        if read.pointer.tokens in possible:
            continue
        findings = list(_read(examined, read, sight))
        if not findings:
            possible.add(read.pointer.tokens)
        yield from findings


def _read(examined: Examined, read: _ReadPath, sight: _Sight) -> Iterator[Finding]:
    match read.pointer.tokens:
        case ("results", result, *rest):
            yield from _result(read, result, tuple(rest), sight)
        case ("event", "data", *rest):
            yield from _found(examined, read, sight.event_schema, tuple(rest), "the event's data")
        case ("request", "data", *rest):
            schema = True if examined.flow.data_schema is None else examined.flow.data_schema
            yield from _found(examined, read, schema, tuple(rest), "the request's data")
        case _:
            pass


def _result(read: _ReadPath, result: str, rest: tuple[str, ...], sight: _Sight) -> Iterator[Finding]:
    if result in sight.results:
        impossible = impossible_path(sight.results[result], rest, {})
        yield from _impossible(read, impossible, f"the result '{result}'")
        return
    known = [action.result_key for action in sight.transition.actions if action.result_key is not None]
    message = (
        f"No action of '{sight.transition.id}' gives the result '{result}' before this is read; "
        "guards see no results, and actions those of earlier ones."
    )
    suggestion = nearest(result, known) if result not in known else None
    yield error("RESULT_NOT_AVAILABLE", read.place, message, suggestion)


def _found(
    examined: Examined, read: _ReadPath, schema: JsonValue, rest: tuple[str, ...], noun: str
) -> Iterator[Finding]:
    yield from _impossible(read, impossible_path(schema, rest, examined.flow.schemas), noun)


def _impossible(read: _ReadPath, impossible: ImpossiblePath | None, noun: str) -> Iterator[Finding]:
    if impossible is None:
        return
    if read.asks_existence:
        message = f"The schema of {noun} lets nothing be at this path, so EXISTS is always false."
        yield warning("ALWAYS_FALSE", read.place, message, impossible.near)
        return
    message = f"The schema of {noun} lets nothing be at this path; correct the path or the schema."
    yield error("PATH_OUTSIDE_SCHEMA", read.place, message, impossible.near)


def _data_paths(examined: Examined) -> Iterator[Finding]:
    """Judge the pointers into the request's data that are written without a prefix."""
    schema = examined.flow.data_schema
    if schema is None:
        return
    targets = [
        (update.target, examined.place_of(update).child("target"))
        for transition in examined.flow.transitions
        for update in transition.updates
    ]
    restricted = [
        (part.path, examined.place_of(part).child("path")) for part in examined.flow.restricted_data
    ]
    for pointer, place in (*targets, *restricted):
        read = _ReadPath(pointer=pointer, place=place)
        yield from _found(examined, read, schema, pointer.tokens, "the request's data")
