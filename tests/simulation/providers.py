"""Provider doubles that count what they did, and calls that may arrive after their caller has given up or died."""

from collections.abc import Callable
from datetime import datetime

from attrs import define, field
from tests.simulation.chances import Chances
from tests.simulation.scenarios import EFFECTS, KEY_MEMORY_SECONDS
from tests.simulation.stepping import Answerable, Pause, pause
from tests.simulation.witness import Witness

from orchestrator_domain.execution.attempt import (
    ActionResult,
    ContractViolated,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Refused,
    Succeeded,
    Transient,
    UnclearRefusal,
)
from orchestrator_domain.execution.probe import Confirmed, Inconclusive, NotFound, ProbeResult
from orchestrator_domain.flow.contract import Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey
from orchestrator_domain.ports.action_handler import ActionContext

# A provider remembers a key for a little longer than it promises, and calls to it neither leave nor arrive later than
# that: a process may be stopped just before its call, so no protocol helps against a call that outlives every key.
_MEMORY_SLACK_SECONDS = 300.0
_DELAY_MAX_SECONDS = _MEMORY_SLACK_SECONDS / 3

_RESULT = Succeeded(result={"value": 1}, provider_reference="ref-1")


class AnswerLost(Exception):
    """No whole answer came back within the attempt's budget."""


@define(eq=False)
class Call(Answerable):
    """One call on its way. Whether it has an effect is decided when it leaves, and happens when it arrives."""

    name: str
    action: ActionKey
    context: ActionContext
    answer: ActionResult
    has_effect: bool
    left_at: datetime
    answered: bool = False


@define(eq=False)
class Providers:
    """Everything outside: calls arrive in any order, or long after their time."""

    chances: Chances
    witness: Witness
    now: Callable[[], datetime]
    trouble: float
    on_their_way: list[Call] = field(factory=list)
    _remembered: dict[str, datetime] = field(factory=dict)
    _called: set[str] = field(factory=set)

    async def attempt(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:
        """Make one attempt, as an action handler promises."""
        name = f"{definition.id} attempt {context.attempt}"
        await pause(Pause(f"before the call of {name}"))
        if self.chances.fault(self.trouble / 4):
            return Parked(retry_after_seconds=30.0)
        if (
            definition.id == "tell"
            and self.witness.seconds_since_start(context, definition.id) > _DELAY_MAX_SECONDS
        ):
            return NoWholeAnswer()
        self.witness.called(context, definition.id)
        if self.chances.fault(self.trouble / 4):
            return ProvenUnsent()
        call = self._sent(name, definition.id, context)
        try:
            await pause(Pause(f"waiting for the answer to {name}", loses=AnswerLost, awaits=call))
        except AnswerLost:
            return NoWholeAnswer()
        return call.answer

    def held(self, definition: ActionDefinition, context: ActionContext) -> Parked | None:  # noqa: ARG002 - no circuit knows more
        """Hold an attempt back before its start is stored, now and then."""
        return Parked(retry_after_seconds=30.0) if self.chances.fault(self.trouble / 4) else None

    async def probe(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult:
        """Say whether a call has had its effect; the books are sometimes late, and sometimes can't be read."""
        await pause(Pause(f"before the question about {definition.id}"))
        if self.chances.fault(self.trouble):
            silence: tuple[ProbeResult, ...] = (NotFound(), Inconclusive(error_code="PROVIDER_TIMEOUT"))
            return self.chances.one_of(silence)
        if not self.witness.effects[context.execution_id, definition.id]:
            return NotFound()
        self.witness.confirmed.add((context.execution_id, definition.id))
        return Confirmed(result=_RESULT.result, provider_reference=_RESULT.provider_reference)

    def arrive(self, call: Call) -> None:
        """Let a call arrive: its effect takes place, unless the provider knows its key already."""
        self.on_their_way.remove(call)
        call.answered = not isinstance(call.answer, NoWholeAnswer)
        if not call.has_effect or self._is_too_late(call):
            return
        if EFFECTS[call.action] is Effect.IDEMPOTENT_WRITE and self._knows(call):
            return
        self._remembered[call.context.external_key] = self.now()
        self.witness.effect_happened(call.context.execution_id, call.action)

    def _is_too_late(self, call: Call) -> bool:
        return call.action == "tell" and self._seconds_since(call.left_at) > _DELAY_MAX_SECONDS

    def _knows(self, call: Call) -> bool:
        since = self._remembered.get(call.context.external_key)
        if since is None:
            return False
        forgets = call.action == "tell"
        return not forgets or self._seconds_since(since) <= KEY_MEMORY_SECONDS + _MEMORY_SLACK_SECONDS

    def _sent(self, name: str, action: ActionKey, context: ActionContext) -> Call:
        answer = self._answer(EFFECTS[action], asked_again=context.external_key in self._called)
        self._called.add(context.external_key)
        call = Call(name, action, context, answer, self._has_effect(answer), self.now())
        self.on_their_way.append(call)
        return call

    def _answer(self, effect: Effect, *, asked_again: bool) -> ActionResult:
        # Whoever has failed once is likely to fail again: what was resumed stops anew.
        trouble = min(0.7, 3 * self.trouble) if asked_again else self.trouble
        if not self.chances.fault(trouble):
            return _RESULT
        troubles: tuple[ActionResult, ...] = (
            NoWholeAnswer(),
            Transient(),
            Transient(retry_after_seconds=900.0),
            Transient(proves_no_effect=effect is Effect.NON_IDEMPOTENT_WRITE),
            Refused(),
            Refused(),
            UnclearRefusal(),
            ContractViolated(),
        )
        return self.chances.one_of(troubles)

    def _has_effect(self, answer: ActionResult) -> bool:
        match answer:
            case Succeeded() | ContractViolated():
                return True
            case Refused() | Transient(proves_no_effect=True):
                return False
            case _:
                return self.chances.happens(0.5)

    def _seconds_since(self, moment: datetime) -> float:
        return (self.now() - moment).total_seconds()
