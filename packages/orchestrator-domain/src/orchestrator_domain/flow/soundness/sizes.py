"""How many parts a flow has, against the operator's limits."""

from collections.abc import Iterator, Sized

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.soundness.examined import Examined, error


def size_findings(examined: Examined, limits: FlowLimits) -> Iterator[Finding]:
    """Yield a finding for each list that is longer than it may be."""
    flow, root = examined.flow, Pointer.root()
    yield from _too_many("STATES", flow.states, limits.states_max, root.child("states"))
    yield from _too_many("TRANSITIONS", flow.transitions, limits.transitions_max, root.child("transitions"))
    for transition in flow.transitions:
        place = examined.place_of(transition).child("actions")
        yield from _too_many("ACTIONS", transition.actions, limits.actions_max, place)


def _too_many(noun: str, parts: Sized, parts_max: int, at: Pointer) -> Iterator[Finding]:
    if len(parts) > parts_max:
        message = f"{len(parts)} {noun.lower()} are more than the {parts_max} that are allowed here."
        yield error(f"TOO_MANY_{noun}", at, message)
