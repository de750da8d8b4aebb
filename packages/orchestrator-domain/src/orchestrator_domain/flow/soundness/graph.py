"""States and transitions as a graph: beginnings, ends, and ways between them."""

from collections.abc import Iterable, Iterator, Mapping

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.definition import ByDecision, State, Transition
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error, unknown, warning
from orchestrator_domain.identifiers import StateKey


def graph_findings(examined: Examined) -> Iterator[Finding]:
    """Yield what is wrong with the way that requests take through the states."""
    yield from _initial_state(examined)
    yield from _ends_of_transitions(examined)
    yield from _pairs_used_twice(examined)
    if examined.whole:
        yield from _ways(examined)


def destinations(transition: Transition) -> Iterable[StateKey]:
    match transition.route:
        case ByDecision(destinations=by_output):
            return by_output.values()
        case directly:
            return (directly.to,)


def _initial_state(examined: Examined) -> Iterator[Finding]:
    initial = examined.flow.initial_state
    if initial and initial not in examined.state_keys:
        place = Pointer.root().child("initialState")
        yield unknown("UNKNOWN_STATE", place, "state", initial, examined.state_keys)


def _ends_of_transitions(examined: Examined) -> Iterator[Finding]:
    for transition in examined.flow.transitions:
        yield from _origin(examined, transition)
        for place, state in _placed_destinations(examined, transition):
            if state not in examined.state_keys:
                yield unknown("UNKNOWN_STATE", place, "state", state, examined.state_keys)


def _origin(examined: Examined, transition: Transition) -> Iterator[Finding]:
    place = examined.place_of(transition).child("from")
    state = examined.flow.state(transition.from_state)
    if transition.from_state not in examined.state_keys:
        yield unknown("UNKNOWN_STATE", place, "state", transition.from_state, examined.state_keys)
    elif state is not None and state.terminal:
        message = f"'{state.key}' is terminal, so nothing may leave it; make it non-terminal or remove this."
        yield error("TERMINAL_STATE_WITH_EXIT", place, message)


def _placed_destinations(examined: Examined, transition: Transition) -> Iterator[tuple[Pointer, StateKey]]:
    place = examined.place_of(transition)
    match transition.route:
        case ByDecision(destinations=by_output):
            for output, state in by_output.items():
                yield place.child("destinations").child(output), state
        case directly:
            yield place.child("to"), directly.to


def _pairs_used_twice(examined: Examined) -> Iterator[Finding]:
    seen: dict[tuple[str, str], Transition] = {}
    for transition in examined.flow.transitions:
        first = seen.setdefault((transition.from_state, transition.event), transition)
        if first is not transition:
            message = (
                f"'{first.id}' leaves the same state with the same event already; "
                "choose between results by one decision or guard."
            )
            yield error("DUPLICATE_TRANSITION", examined.place_of(transition), message)


def _ways(examined: Examined) -> Iterator[Finding]:
    onward = _onward(examined)
    reachable = _reached_from([examined.flow.initial_state], onward)
    ending = _reached_from(_terminal_keys(examined), _reversed(onward))
    for state in examined.flow.states:
        place = examined.place_of(state)
        if state.key not in reachable:
            message = f"No way leads from the initial state to '{state.key}'; add a transition or remove it."
            yield error("UNREACHABLE_STATE", place, message)
        yield from _way_out(state, onward, ending, place)


def _way_out(
    state: State, onward: Mapping[StateKey, set[StateKey]], ending: set[StateKey], place: Pointer
) -> Iterator[Finding]:
    if state.terminal:
        return
    if not onward.get(state.key):
        message = f"'{state.key}' isn't terminal, and no transition leaves it; add one or make it terminal."
        yield error("DEAD_END", place, message)
    elif state.key not in ending:
        yield warning("NO_WAY_TO_AN_END", place, f"No terminal state can be reached from '{state.key}'.")


def _terminal_keys(examined: Examined) -> list[StateKey]:
    return [state.key for state in examined.flow.states if state.terminal]


def _onward(examined: Examined) -> dict[StateKey, set[StateKey]]:
    onward: dict[StateKey, set[StateKey]] = {}
    for transition in examined.flow.transitions:
        onward.setdefault(transition.from_state, set()).update(destinations(transition))
    return onward


def _reversed(onward: Mapping[StateKey, set[StateKey]]) -> dict[StateKey, set[StateKey]]:
    backward: dict[StateKey, set[StateKey]] = {}
    for origin, reached in onward.items():
        for state in reached:
            backward.setdefault(state, set()).add(origin)
    return backward


def _reached_from(starts: Iterable[StateKey], onward: Mapping[StateKey, set[StateKey]]) -> set[StateKey]:
    reached = set(starts)
    pending = list(reached)
    while pending:
        for state in onward.get(pending.pop(), set()) - reached:
            reached.add(state)
            pending.append(state)
    return reached
