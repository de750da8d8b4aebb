"""Scripted handlers answer by script and count the effects that took place."""

import pytest

from orchestrator_domain.execution.attempt import ActionResult, NoWholeAnswer, Refused, Succeeded, Transient
from orchestrator_domain.execution.checkpoint import external_key
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import BusinessScope, ExecutionId, FencingToken, RequestId, Subject
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.testing.examples import LOOKUP, lookup_contract
from orchestrator_domain.testing.scripted_handlers import (
    BlockingHandler,
    Crash,
    ScriptedHandler,
    ScriptExhausted,
    SimulatedCrash,
    Unheard,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

FOUND = Succeeded(result={"found": True})
ACTION = ActionDefinition(id=LOOKUP, type="INVOKE_INTEGRATION", integration_key="INVENTORY_LOOKUP")
IDENTIFIERS = SequentialIdentifiers()
EXECUTION = ExecutionId(IDENTIFIERS.uuid())
CONTEXT = ActionContext(
    execution_id=EXECUTION,
    request_id=RequestId(IDENTIFIERS.uuid()),
    owner=Subject("clerk-1"),
    scope=BusinessScope("NORTH"),
    actor=Subject("clerk-1"),
    inputs={"item": "ladder"},
    external_key=external_key(EXECUTION, LOOKUP),
    fencing_token=FencingToken(1),
    attempt=1,
    contract=lookup_contract(),
)


async def test_attempts_are_answered_in_the_order_of_the_script() -> None:
    handler = ScriptedHandler()
    handler.script("lookup", Transient(), FOUND)
    assert [await handler.execute(ACTION, CONTEXT) for _ in range(2)] == [Transient(), FOUND]
    assert handler.attempts == [CONTEXT, CONTEXT]


async def test_an_attempt_beyond_the_script_is_not_answered() -> None:
    with pytest.raises(ScriptExhausted):
        await ScriptedHandler().execute(ACTION, CONTEXT)


@pytest.mark.parametrize("step", [FOUND, Unheard(answer=NoWholeAnswer())])
async def test_an_effect_is_counted_under_its_key_whether_it_is_heard_of_or_not(
    step: Succeeded | Unheard,
) -> None:
    handler = ScriptedHandler()
    handler.script("lookup", step)
    await handler.execute(ACTION, CONTEXT)
    assert handler.effects == {CONTEXT.external_key: 1}


@pytest.mark.parametrize("answer", [NoWholeAnswer(), Refused(), Transient()])
async def test_an_answer_without_an_effect_counts_none(answer: ActionResult) -> None:
    handler = ScriptedHandler()
    handler.script("lookup", answer)
    assert await handler.execute(ACTION, CONTEXT) == answer
    assert handler.effects == {}


@pytest.mark.parametrize(("after_effect", "effects"), [(False, 0), (True, 1)])
async def test_a_crash_comes_before_or_after_its_effect(*, after_effect: bool, effects: int) -> None:
    handler = ScriptedHandler()
    handler.script("lookup", Crash(after_effect=after_effect))
    with pytest.raises(SimulatedCrash):
        await handler.execute(ACTION, CONTEXT)
    assert sum(handler.effects.values()) == effects


def test_a_crash_is_no_exception_that_a_run_could_catch_and_survive() -> None:
    assert not issubclass(SimulatedCrash, Exception)


@pytest.mark.parametrize(("deduplicates", "effects"), [(False, 2), (True, 1)])
async def test_an_idempotent_provider_has_one_effect_under_one_key(
    *, deduplicates: bool, effects: int
) -> None:
    handler = ScriptedHandler(deduplicates=deduplicates)
    handler.script("lookup", Unheard(answer=NoWholeAnswer()), FOUND)
    for _ in range(2):
        await handler.execute(ACTION, CONTEXT)
    assert handler.effects[CONTEXT.external_key] == effects


def test_a_blocking_handler_answers_as_a_plain_function() -> None:
    handler = BlockingHandler(type="WAIT", answer=lambda _definition, _context: FOUND)
    assert handler.execute(ACTION, CONTEXT) == FOUND
