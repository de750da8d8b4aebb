"""The definition under examination, with the places of its parts."""

from collections.abc import Iterable, Iterator
from functools import cached_property

from attrs import define

from orchestrator_domain.decision.condition import Condition
from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.exact_json.pointer import Pointer
from orchestrator_domain.exact_json.value import JsonValue
from orchestrator_domain.flow.definition import ByDecision, FlowDefinition, Transition
from orchestrator_domain.flow.document.reading import Reading, nearest
from orchestrator_domain.flow.findings import Finding, Severity


@define(kw_only=True, frozen=True, slots=False)
class Examined:
    """What could be read of a document.

    Unless it is `whole`, parts may be missing that the author did write: what a missing part would excuse (an
    unreachable state, an unused event) is not to be judged then.
    """

    flow: FlowDefinition
    reading: Reading
    whole: bool

    def place_of(self, part: object) -> Pointer:
        return self.reading.place_of(part)

    @cached_property
    def state_keys(self) -> frozenset[str]:
        """Return the keys of all states, of those too that couldn't be read as a whole."""
        return self._written("states", "key")

    @cached_property
    def event_keys(self) -> frozenset[str]:
        return self._written("events", "key")

    @cached_property
    def decision_keys(self) -> frozenset[str]:
        return self._written("decisions", "id")

    @cached_property
    def users_of_decisions(self) -> dict[str, list[Transition]]:
        """Return the transitions that each decision routes."""
        users: dict[str, list[Transition]] = {}
        for transition in self.flow.transitions:
            if isinstance(transition.route, ByDecision):
                users.setdefault(transition.route.decision, []).append(transition)
        return users

    def decision_of(self, transition: Transition) -> DecisionDefinition | None:
        route = transition.route
        return self.flow.decision(route.decision) if isinstance(route, ByDecision) else None

    def conditions(self) -> Iterator[tuple[Condition, Pointer]]:
        """Yield every guard and every rule's condition with its place."""
        for transition in self.flow.transitions:
            if transition.guard is not None:
                yield transition.guard, self.place_of(transition).child("guard")
        for decision in self.flow.decisions:
            for rule in decision.rules:
                yield rule.when, self.place_of(rule).child("when")

    def index_in(self, elements: Pointer, element: str) -> Pointer:
        """Return the place of one string in the list at a place."""
        found: JsonValue = elements.resolve(self.flow.document)  # type: ignore[assignment]  # it was read there
        return elements.child(found.index(element)) if isinstance(found, list) else elements

    def _written(self, member: str, key_member: str) -> frozenset[str]:
        elements = self.flow.document.get(member)
        keys = (
            element.get(key_member)
            for element in (elements if isinstance(elements, list) else ())
            if isinstance(element, dict)
        )
        return frozenset(key for key in keys if isinstance(key, str))


def error(code: str, at: Pointer, message: str, suggestion: str | None = None) -> Finding:
    return Finding(code=code, pointer=str(at), message=message, suggestion=suggestion)


def warning(code: str, at: Pointer, message: str, suggestion: str | None = None) -> Finding:
    return Finding(
        code=code, pointer=str(at), message=message, severity=Severity.WARNING, suggestion=suggestion
    )


def information(code: str, at: Pointer, message: str) -> Finding:
    return Finding(code=code, pointer=str(at), message=message, severity=Severity.INFORMATION)


def unknown(code: str, at: Pointer, noun: str, key: str, known: Iterable[str]) -> Finding:
    """Return the finding of a key that nothing declares, with the nearest one that something does."""
    return error(code, at, f"There is no {noun} '{key}'; declare it or correct the key.", nearest(key, known))
