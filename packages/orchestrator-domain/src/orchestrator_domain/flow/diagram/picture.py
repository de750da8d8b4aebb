"""What is drawn of a flow, whatever draws it."""

from collections.abc import Iterable, Iterator

from attrs import frozen

from orchestrator_domain.decision.definition import DecisionDefinition
from orchestrator_domain.decision.wording import in_words
from orchestrator_domain.flow.definition import ByDecision, Directly, FlowDefinition, Transition

_CONDITION_MAX = 70


@frozen(kw_only=True)
class StateNode:
    key: str
    title: str | None
    initial: bool
    terminal: bool


@frozen(kw_only=True)
class Branch:
    """One way out of a transition: the outcome, when it is taken (None: always), and the state it leads to."""

    outcome: str
    when: str | None
    to: str


@frozen(kw_only=True)
class Step:
    """One transition: `notes` are its guard, actions and decision, a line each."""

    id: str
    from_state: str
    event: str
    notes: tuple[str, ...]
    branches: tuple[Branch, ...]

    @property
    def decides(self) -> bool:
        return any(branch.when is not None for branch in self.branches)


@frozen(kw_only=True)
class Picture:
    title: str
    states: tuple[StateNode, ...]
    steps: tuple[Step, ...]


def picture_of(flow: FlowDefinition) -> Picture:
    """Say what is to be seen of a flow."""
    return Picture(
        title=f"{flow.title or flow.flow_key} (version {flow.version})",
        states=tuple(
            StateNode(
                key=state.key,
                title=state.title,
                initial=state.key == flow.initial_state,
                terminal=state.terminal,
            )
            for state in flow.states
        ),
        steps=tuple(
            Step(
                id=transition.id,
                from_state=transition.from_state,
                event=transition.event,
                notes=tuple(_notes(flow, transition)),
                branches=tuple(_branches(flow, transition)),
            )
            for transition in flow.transitions
        ),
    )


def _notes(flow: FlowDefinition, transition: Transition) -> Iterator[str]:
    if transition.guard is not None:
        yield f"if {_short(in_words(transition.guard))}"
    for action in transition.actions:
        yield f"calls {action.integration_key or action.type}"
    if isinstance(transition.route, ByDecision):
        decision = flow.decision(transition.route.decision)
        policy = f" ({decision.hit_policy})" if decision is not None else ""
        yield f"decides {transition.route.decision}{policy}"


def _branches(flow: FlowDefinition, transition: Transition) -> Iterator[Branch]:
    match transition.route:
        case Directly(to=to, outcome=outcome):
            yield Branch(outcome=outcome, when=None, to=to)
        case ByDecision(decision=key, destinations=destinations):
            decision = flow.decision(key)
            for output, to in destinations.items():
                yield Branch(outcome=output, when=_when(decision, output), to=to)


def _when(decision: DecisionDefinition | None, output: str) -> str:
    """Say when an output comes; rules of FIRST apply where none before them does."""
    if decision is None:
        return "?"
    rules = [in_words(rule.when) for rule in decision.rules if rule.output == output]
    if output == decision.default_output:
        rules.append("no rule matches")
    return _short(_either(rules))


def _either(conditions: Iterable[str]) -> str:
    return "; or ".join(conditions)


def _short(text: str) -> str:
    return text if len(text) <= _CONDITION_MAX else f"{text[: _CONDITION_MAX - 1]}…"
