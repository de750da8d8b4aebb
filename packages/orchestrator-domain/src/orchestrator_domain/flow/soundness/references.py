"""Events, decisions, tasks, roles and restricted paths that are named somewhere."""

from collections.abc import Iterator

from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.flow.definition import ByDecision, Task
from orchestrator_domain.flow.findings import Finding
from orchestrator_domain.flow.soundness.examined import Examined, error, unknown, warning
from orchestrator_domain.identifiers import Role


def reference_findings(examined: Examined, known_roles: frozenset[Role] | None) -> Iterator[Finding]:
    """Yield every name that stands for nothing, and what is declared and never named."""
    yield from _events_and_decisions(examined)
    yield from _tasks(examined)
    yield from _restricted_paths(examined)
    if known_roles is not None:
        yield from _roles(examined, known_roles)
    if examined.whole:
        yield from _unused(examined)


def _events_and_decisions(examined: Examined) -> Iterator[Finding]:
    for transition in examined.flow.transitions:
        place = examined.place_of(transition)
        if transition.event not in examined.event_keys:
            yield unknown(
                "UNKNOWN_EVENT", place.child("event"), "event", transition.event, examined.event_keys
            )
        route = transition.route
        if isinstance(route, ByDecision) and route.decision not in examined.decision_keys:
            at = place.child("decision")
            yield unknown("UNKNOWN_DECISION", at, "decision", route.decision, examined.decision_keys)


def _tasks(examined: Examined) -> Iterator[Finding]:
    for task in examined.flow.tasks:
        place = examined.place_of(task)
        if task.state not in examined.state_keys:
            yield unknown("UNKNOWN_STATE", place.child("state"), "state", task.state, examined.state_keys)
        if task.event not in examined.event_keys:
            yield unknown("UNKNOWN_EVENT", place.child("event"), "event", task.event, examined.event_keys)
        yield from _task_without_transition(examined, task, place)


def _task_without_transition(examined: Examined, task: Task, place: Pointer) -> Iterator[Finding]:
    declared = task.state in examined.state_keys and task.event in examined.event_keys
    if declared and examined.whole and examined.flow.transition_for(task.state, task.event) is None:
        message = f"No transition leaves '{task.state}' with '{task.event}', so this task can't be done."
        yield error("TASK_WITHOUT_TRANSITION", place, message)


def _restricted_paths(examined: Examined) -> Iterator[Finding]:
    seen = set()
    for restricted in examined.flow.restricted_data:
        place = examined.place_of(restricted).child("path")
        if restricted.path in seen:
            message = "This path is restricted already; name all its roles in one place."
            yield error("DUPLICATE_PATH", place, message)
        seen.add(restricted.path)


def _roles(examined: Examined, known_roles: frozenset[Role]) -> Iterator[Finding]:
    for named, place in _named_roles(examined):
        for role in sorted(named - known_roles):
            yield unknown("UNKNOWN_ROLE", examined.index_in(place, role), "role", role, known_roles)


def _named_roles(examined: Examined) -> Iterator[tuple[frozenset[Role], Pointer]]:
    flow = examined.flow
    if flow.creation is not None and flow.creation.allowed_roles is not None:
        yield flow.creation.allowed_roles, examined.place_of(flow.creation).child("allowedRoles")
    for restricted in flow.restricted_data:
        yield restricted.allowed_roles, examined.place_of(restricted).child("allowedRoles")
    for transition in flow.transitions:
        yield transition.allowed_roles, examined.place_of(transition).child("allowedRoles")


def _unused(examined: Examined) -> Iterator[Finding]:
    used = {transition.event for transition in examined.flow.transitions}
    for event in examined.flow.events:
        if event.key not in used:
            message = f"No transition is taken by the event '{event.key}'."
            yield warning("UNUSED_EVENT", examined.place_of(event), message)
    for decision in examined.flow.decisions:
        if decision.id not in examined.users_of_decisions:
            message = f"No transition uses the decision '{decision.id}'."
            yield warning("UNUSED_DECISION", examined.place_of(decision), message)
