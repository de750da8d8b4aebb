"""A handler that answers by script, as a provider that remembers the effects it had."""

from collections import defaultdict, deque
from collections.abc import Callable

from attrs import frozen

from orchestrator_domain.execution.attempt import ActionResult, ContractViolated, Succeeded
from orchestrator_domain.execution.probe import Inconclusive, ProbeResult
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler, ProbesEffects


class SimulatedCrash(BaseException):
    """Stand for the end of the process: nothing may catch it and save a result."""


class ScriptExhausted(BaseException):
    """An action was attempted more often than its script has answers."""


@frozen(kw_only=True)
class Crash:
    """End the attempt with a SimulatedCrash, before or after its effect."""

    after_effect: bool


@frozen(kw_only=True)
class Unheard:
    """Let the effect take place and answer as if it might not have."""

    answer: ActionResult


type Step = ActionResult | Crash | Unheard


class ScriptedHandler(ActionHandler):
    """Answer the attempts of each action with its script, one step after the other.

    An effect takes place with Succeeded, ContractViolated, Unheard and a Crash after it. `deduplicates` makes the
    provider an idempotent one: the second effect under one external key leaves `effects` as it was.
    """

    def __init__(self, action_type: str = "INVOKE_INTEGRATION", *, deduplicates: bool = False) -> None:
        self._type = action_type
        self._deduplicates = deduplicates
        self._scripts: dict[str, deque[Step]] = defaultdict(deque)
        self.attempts: list[ActionContext] = []
        self.effects: dict[str, int] = defaultdict(int)

    @property
    def type(self) -> str:
        return self._type

    def script(self, action: str, *steps: Step) -> None:
        """Append steps to the script of the action with this id."""
        self._scripts[action].extend(steps)

    async def execute(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:
        """Take the next step of the action's script; raise ScriptExhausted if there is none."""
        self.attempts.append(context)
        step = self._next_step(definition.id)
        if _has_effect(step):
            self._take_effect(context.external_key)
        match step:
            case Crash():
                raise SimulatedCrash("The process ended here.")
            case Unheard(answer=answer):
                return answer
            case answer:
                return answer

    def _next_step(self, action: ActionKey) -> Step:
        if not self._scripts[action]:
            raise ScriptExhausted(f"No answer is left in the script of action {action}.")
        return self._scripts[action].popleft()

    def _take_effect(self, external_key: str) -> None:
        if not (self._deduplicates and self.effects[external_key]):
            self.effects[external_key] += 1


def _has_effect(step: Step) -> bool:
    match step:
        case Succeeded() | ContractViolated() | Unheard():
            return True
        case Crash(after_effect=after_effect):
            return after_effect
        case _:
            return False


class ScriptedProbe(ProbesEffects):
    """Answer questions about effects in doubt by script; when it is over the provider is silent."""

    def __init__(self, *answers: ProbeResult) -> None:
        self._answers = deque(answers)
        self.asked: list[ActionContext] = []

    async def probe(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult:  # noqa: ARG002 - one script for all actions
        self.asked.append(context)
        return self._answers.popleft() if self._answers else Inconclusive(error_code="PROVIDER_TIMEOUT")


@frozen(kw_only=True)
class BlockingHandler(ActionHandler):
    """Answer as a plain function, which may block its thread."""

    type: str
    answer: Callable[[ActionDefinition, ActionContext], ActionResult]

    def execute(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:
        return self.answer(definition, context)
