"""Whatever a handler does, its attempt ends in time and with a result."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest
from attrs import evolve
from tests.plugins.lending_catalogue import (
    LOOKUP,
    attempt_at,
    catalogue_file,
    contract_of,
    deployed,
    lookup_integration,
)

from orchestrator_domain.execution.attempt import (
    ActionResult,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Succeeded,
    Unavailable,
)
from orchestrator_domain.execution.probe import Inconclusive, NotFound, ProbeResult, outcome_of_probe
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler
from orchestrator_domain.testing.recording_observer import (
    ActionAttempted,
    EffectProbed,
    RecordingObserver,
    WorkerDisturbed,
)
from orchestrator_worker import handlers
from orchestrator_worker.handlers import DuplicateHandler, HandlerRegistry

DONE = Succeeded(result={"found": True})
CONTRACT = contract_of(deployed(catalogue_file(lookup_integration())), LOOKUP)
PATIENT = attempt_at(CONTRACT, item="ladder")
HASTY = attempt_at(evolve(CONTRACT, budget_seconds=0.05), item="ladder")


class Coroutine(ActionHandler):
    def __init__(self, answer: Callable[[], Awaitable[ActionResult]]) -> None:
        self._answer = answer

    @property
    def type(self) -> str:
        return "INVOKE_INTEGRATION"

    async def execute(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:  # noqa: ARG002
        return await self._answer()


class Plain(ActionHandler):
    def __init__(self, answer: Callable[[], Awaitable[ActionResult] | ActionResult]) -> None:
        self._answer = answer

    @property
    def type(self) -> str:
        return "INVOKE_INTEGRATION"

    def execute(
        self,
        definition: ActionDefinition,  # noqa: ARG002
        context: ActionContext,  # noqa: ARG002
    ) -> Awaitable[ActionResult] | ActionResult:
        return self._answer()


@pytest.fixture(autouse=True)
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handlers, "GRACE_SECONDS", 0.0)


@contextmanager
def registry(
    *registered: ActionHandler, observer: RecordingObserver | None = None, threads_max: int = 2
) -> Iterator[HandlerRegistry]:
    running = HandlerRegistry(registered, observer=observer or RecordingObserver(), threads_max=threads_max)
    try:
        yield running
    finally:
        running.close()


async def done() -> ActionResult:
    return DONE


async def never() -> ActionResult:
    await asyncio.Event().wait()
    raise AssertionError("nobody sets the event")


def failing() -> ActionResult:
    raise RuntimeError("a-secret-value")


async def failing_later() -> ActionResult:
    raise RuntimeError("a-secret-value")


@pytest.mark.parametrize("handler", [Coroutine(done), Plain(lambda: DONE), Plain(done)])
async def test_a_handler_may_be_a_coroutine_or_a_plain_function(handler: ActionHandler) -> None:
    with registry(handler) as running:
        assert await running.attempt(LOOKUP, PATIENT) == DONE


async def test_a_plain_function_may_block_without_holding_up_the_event_loop() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def blocking() -> ActionResult:
        begun.set()
        assert go_on.wait(10)
        return DONE

    with registry(Plain(blocking)) as running:
        attempt = asyncio.create_task(running.attempt(LOOKUP, PATIENT))
        assert await asyncio.to_thread(begun.wait, 10)
        # Only a free event loop gets here while the function still blocks.
        go_on.set()
        assert await attempt == DONE


async def test_a_coroutine_that_outlasts_its_budget_is_cut_and_nothing_is_known() -> None:
    with registry(Coroutine(never)) as running:
        assert await running.attempt(LOOKUP, HASTY) == NoWholeAnswer()


async def test_a_function_that_outlasts_its_budget_is_left_behind_and_nothing_is_known() -> None:
    go_on = threading.Event()

    def blocking() -> ActionResult:
        assert go_on.wait(10)
        return DONE

    with registry(Plain(blocking)) as running:
        assert await running.attempt(LOOKUP, HASTY) == NoWholeAnswer()
        go_on.set()


async def test_a_function_that_no_thread_ever_took_was_sent_nothing() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def blocking() -> ActionResult:
        begun.set()
        assert go_on.wait(10)
        return DONE

    with registry(Plain(blocking), threads_max=1) as running:
        first = asyncio.create_task(running.attempt(LOOKUP, PATIENT))
        assert await asyncio.to_thread(begun.wait, 10)
        assert await running.attempt(LOOKUP, HASTY) == ProvenUnsent(error_code="HANDLER_BUSY")
        go_on.set()
        assert await first == DONE


async def test_a_cancelled_attempt_is_cancelled_and_no_result() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def blocking() -> ActionResult:
        begun.set()
        assert go_on.wait(10)
        return DONE

    for handler in (Plain(blocking), Coroutine(never)):
        with registry(handler) as running:
            attempt = asyncio.create_task(running.attempt(LOOKUP, PATIENT))
            if isinstance(handler, Plain):
                assert await asyncio.to_thread(begun.wait, 10)
            else:
                await asyncio.sleep(0)
            attempt.cancel()
            with pytest.raises(asyncio.CancelledError):
                await attempt
            go_on.set()


@pytest.mark.parametrize("handler", [Plain(failing), Coroutine(failing_later), Plain(failing_later)])
async def test_an_exception_is_an_attempt_of_which_nothing_is_known(handler: ActionHandler) -> None:
    observer = RecordingObserver()
    with registry(handler, observer=observer) as running:
        result = await running.attempt(LOOKUP, PATIENT)
    assert result == NoWholeAnswer(error_code="HANDLER_FAILED")
    assert (
        WorkerDisturbed(
            execution_id=PATIENT.execution_id, code="INTERNAL_ERROR", kind="builtins.RuntimeError"
        )
        in observer.observations
    )
    assert "a-secret-value" not in str(observer.observations)


async def test_a_timeout_of_the_handlers_own_is_no_end_of_its_budget() -> None:
    async def timed_out() -> ActionResult:
        raise TimeoutError

    with registry(Coroutine(timed_out)) as running:
        assert await running.attempt(LOOKUP, PATIENT) == NoWholeAnswer(error_code="HANDLER_FAILED")


async def test_every_attempt_is_told_to_the_observer() -> None:
    observer = RecordingObserver()
    with registry(Coroutine(done), observer=observer) as running:
        await running.attempt(LOOKUP, PATIENT)
        await running.attempt(evolve(LOOKUP, type="STAMP"), PATIENT)
    told = [item.outcome for item in observer.observations if isinstance(item, ActionAttempted)]
    assert told == ["SUCCEEDED", "INTEGRATION_UNAVAILABLE"]


async def test_a_type_without_a_handler_is_unavailable() -> None:
    with registry() as running:
        assert await running.attempt(LOOKUP, PATIENT) == Unavailable()


def test_two_handlers_of_one_type_are_refused() -> None:
    with pytest.raises(DuplicateHandler):
        HandlerRegistry([Coroutine(done), Plain(failing)], observer=RecordingObserver())


class Asked(Coroutine):
    """A handler that can be asked about its effects."""

    def __init__(self, answer: Callable[[], Awaitable[ProbeResult]]) -> None:
        super().__init__(done)
        self._said = answer

    async def probe(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult:  # noqa: ARG002
        return await self._said()


async def not_found() -> ProbeResult:
    return NotFound()


async def silent() -> ProbeResult:
    await asyncio.Event().wait()
    return NotFound()


async def broken() -> ProbeResult:
    raise RuntimeError("The answer held hunter2.")


@pytest.mark.parametrize(
    ("handler", "context", "said"),
    [
        (Asked(not_found), PATIENT, NotFound()),
        (Asked(silent), HASTY, Inconclusive(error_code="PROVIDER_TIMEOUT")),
        (Asked(broken), PATIENT, Inconclusive(error_code="HANDLER_FAILED")),
        (Coroutine(done), PATIENT, Inconclusive(error_code="INTEGRATION_UNAVAILABLE")),
    ],
    ids=["answered", "never answered", "broken", "not to be asked"],
)
async def test_whatever_becomes_of_a_question_it_is_answered_in_time_and_told(
    handler: Coroutine, context: ActionContext, said: ProbeResult
) -> None:
    observer = RecordingObserver()
    with registry(handler, observer=observer) as running:
        assert await running.probe(LOOKUP, context) == said
    assert observer.observations[-1] == EffectProbed(
        execution_id=context.execution_id,
        action=LOOKUP.id,
        integration_key="INVENTORY_LOOKUP",
        outcome=outcome_of_probe(said),
    )
    disturbed = [one for one in observer.observations if isinstance(one, WorkerDisturbed)]
    assert len(disturbed) == (said == Inconclusive(error_code="HANDLER_FAILED"))


class HeldBack(Coroutine):
    def held(self, definition: ActionDefinition, context: ActionContext) -> Parked | None:  # noqa: ARG002
        return Parked(retry_after_seconds=7.0)


async def test_a_handler_that_holds_back_is_told_as_an_attempt_that_was_not_made() -> None:
    observer = RecordingObserver()
    with registry(HeldBack(done), observer=observer) as running:
        assert running.held(LOOKUP, PATIENT) == Parked(retry_after_seconds=7.0)
    (told,) = observer.observations
    assert isinstance(told, ActionAttempted)
    assert told.outcome == "CIRCUIT_OPEN"
    with registry(Coroutine(done), observer=observer) as running:
        assert running.held(LOOKUP, PATIENT) is None
    with registry(observer=observer) as running:
        assert running.held(LOOKUP, PATIENT) is None
    assert observer.observations == [told]


class FailingToHold(Coroutine):
    def held(self, definition: ActionDefinition, context: ActionContext) -> Parked | None:  # noqa: ARG002
        raise RuntimeError


async def test_a_handler_that_fails_to_say_whether_it_holds_back_lets_the_attempt_find_out() -> None:
    observer = RecordingObserver()
    with registry(FailingToHold(done), observer=observer) as running:
        assert running.held(LOOKUP, PATIENT) is None
    (told,) = observer.observations
    assert isinstance(told, WorkerDisturbed)
