"""Outputs of decisions: each has a destination, and none is named that can't come."""

from collections.abc import Iterator

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.definition import ByDecision, Directly, Transition
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error, unknown


def decision_findings(examined: Examined) -> Iterator[Finding]:
    """Yield outputs without destination, and outputs that are named and never come."""
    for transition in examined.flow.transitions:
        decision = examined.decision_of(transition)
        if isinstance(transition.route, Directly):
            yield from _outputs_without_decision(examined, transition)
        elif decision is not None:
            yield from _destinations(examined, transition, transition.route, decision)
            yield from _outputs_of_updates(examined, transition, decision)


def _destinations(
    examined: Examined, transition: Transition, route: ByDecision, decision: DecisionDefinition
) -> Iterator[Finding]:
    place = examined.place_of(transition).child("destinations")
    for output in sorted(decision.outputs - route.destinations.keys()):
        if examined.whole:
            message = (
                f"The output '{output}' of '{decision.id}' has no destination; add the state it leads to."
            )
            yield error("UNCOVERED_OUTPUT", place, message)
    for output in route.destinations:
        yield from _known_output(decision, output, place.child(output))


def _outputs_of_updates(
    examined: Examined, transition: Transition, decision: DecisionDefinition
) -> Iterator[Finding]:
    for update in transition.updates:
        place = examined.place_of(update).child("outputs")
        for output in sorted(update.outputs or ()):
            yield from _known_output(decision, output, examined.index_in(place, output))


def _known_output(decision: DecisionDefinition, output: str, place: Pointer) -> Iterator[Finding]:
    if output not in decision.outputs:
        yield unknown("UNKNOWN_OUTPUT", place, f"output of '{decision.id}' named", output, decision.outputs)


def _outputs_without_decision(examined: Examined, transition: Transition) -> Iterator[Finding]:
    for update in transition.updates:
        if update.outputs is not None:
            message = f"'{transition.id}' has no decision, so there are no outputs to limit an update to."
            yield error("OUTPUTS_WITHOUT_DECISION", examined.place_of(update).child("outputs"), message)
