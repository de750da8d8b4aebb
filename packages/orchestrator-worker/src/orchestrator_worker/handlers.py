"""The registry of action handlers, and the budget that every attempt is held to."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from inspect import isawaitable, iscoroutinefunction
from time import monotonic

from orchestrator_domain.execution.attempt import (
    ActionResult,
    NoWholeAnswer,
    Parked,
    ProvenUnsent,
    Unavailable,
)
from orchestrator_domain.execution.probe import Inconclusive, ProbeResult, outcome_of_probe
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext, ActionHandler, HoldsBack, ProbesEffects
from orchestrator_domain.ports.observer import Observer
from orchestrator_worker.attempt_outcome import outcome_of
from orchestrator_worker.fault_origin import code_of, kind_of, origin_of

# A handler that keeps its own budget knows best what happened, so it is given this much to say so.
GRACE_SECONDS = 1.0


class DuplicateHandler(ValueError):
    """Two handlers were registered for one type of action."""


class HandlerRegistry:
    """Find the handler of an action and make one attempt with it.

    Handlers written as plain functions run in at most `threads_max` threads of their own, so that blocking delays
    neither the event loop nor a renewal.
    """

    def __init__(
        self,
        handlers: Iterable[ActionHandler],
        *,
        observer: Observer,
        threads_max: int = 20,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._handlers = _by_type(handlers)
        self._awaited = {
            name: handler.execute
            for name, handler in self._handlers.items()
            if iscoroutinefunction(handler.execute)
        }
        self._observer = observer
        self._clock = clock
        self._threads = ThreadPoolExecutor(max_workers=threads_max, thread_name_prefix="action")

    async def attempt(self, definition: ActionDefinition, context: ActionContext) -> ActionResult:
        """Make one attempt within the contract's budget; whatever goes wrong is its result, never an exception."""
        started = self._clock()
        handler = self._handlers.get(definition.type)
        if handler is None:
            result: ActionResult = Unavailable()
        else:
            result = await self._guarded(handler, definition, context)
        self._observer.action_attempted(
            execution_id=context.execution_id,
            action=definition.id,
            attempt=context.attempt,
            integration_key=context.contract.integration_key,
            outcome=outcome_of(result),
            seconds=self._clock() - started,
        )
        return result

    def held(self, definition: ActionDefinition, context: ActionContext) -> Parked | None:
        """Say whether the action's handler holds an attempt back before it is started."""
        held = self._held_back(definition, context)
        if held is not None:
            self._observer.action_attempted(
                execution_id=context.execution_id,
                action=definition.id,
                attempt=context.attempt,
                integration_key=context.contract.integration_key,
                outcome=outcome_of(held),
                seconds=0.0,
            )
        return held

    async def probe(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult:
        """Ask once within the contract's budget; whatever goes wrong says nothing about the effect."""
        started = self._clock()
        result = await self._probed(definition, context)
        self._observer.effect_probed(
            execution_id=context.execution_id,
            action=definition.id,
            integration_key=context.contract.integration_key,
            outcome=outcome_of_probe(result),
            seconds=self._clock() - started,
        )
        return result

    def close(self) -> None:
        """Take no more calls; a thread that still blocks is left to itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _held_back(self, definition: ActionDefinition, context: ActionContext) -> Parked | None:
        handler: object = self._handlers.get(definition.type)
        if not isinstance(handler, HoldsBack):
            return None
        try:
            return handler.held(definition, context)
        except Exception as error:  # noqa: BLE001 - a foreign handler may raise anything; the attempt itself finds out then
            self._disturbed(context, error)
            return None

    async def _probed(self, definition: ActionDefinition, context: ActionContext) -> ProbeResult:
        handler: object = self._handlers.get(definition.type)
        if not isinstance(handler, ProbesEffects):
            return Inconclusive(error_code="INTEGRATION_UNAVAILABLE")
        deadline = asyncio.timeout(context.contract.budget_seconds + GRACE_SECONDS)
        try:
            async with deadline:
                return await handler.probe(definition, context)
        except Exception as error:  # noqa: BLE001 - a foreign handler may raise anything; it says nothing then
            if deadline.expired():
                return Inconclusive(error_code="PROVIDER_TIMEOUT")
            self._disturbed(context, error)
            return Inconclusive(error_code="HANDLER_FAILED")

    async def _guarded(
        self, handler: ActionHandler, definition: ActionDefinition, context: ActionContext
    ) -> ActionResult:
        try:
            return await self._run_handler(handler, definition, context)
        except Exception as error:  # noqa: BLE001 - a foreign handler may raise anything; nothing is known then
            self._disturbed(context, error)
            return NoWholeAnswer(error_code="HANDLER_FAILED")

    def _disturbed(self, context: ActionContext, error: Exception) -> None:
        self._observer.worker_disturbed(
            execution_id=context.execution_id,
            code=code_of(error),
            kind=kind_of(error),
            origin=origin_of(error),
        )

    async def _run_handler(
        self, handler: ActionHandler, definition: ActionDefinition, context: ActionContext
    ) -> ActionResult:
        budget_seconds = context.contract.budget_seconds + GRACE_SECONDS
        awaited = self._awaited.get(definition.type)
        if awaited is not None:
            return await _within(budget_seconds, awaited(definition, context), _began_at_once)
        call = self._threads.submit(copy_context().run, handler.execute, definition, context)
        return await _within(budget_seconds, _result_of(call), call.cancel)


async def _within(
    budget_seconds: float, attempt: Awaitable[ActionResult], given_up_before_it_began: Callable[[], bool]
) -> ActionResult:
    deadline = asyncio.timeout(budget_seconds)
    try:
        async with deadline:
            return await attempt
    except TimeoutError:
        if not deadline.expired():
            raise
        return ProvenUnsent(error_code="HANDLER_BUSY") if given_up_before_it_began() else NoWholeAnswer()


def _began_at_once() -> bool:
    return False


async def _result_of(call: Future[Awaitable[ActionResult] | ActionResult]) -> ActionResult:
    outcome = await asyncio.wrap_future(call)
    return await outcome if isawaitable(outcome) else outcome


def _by_type(handlers: Iterable[ActionHandler]) -> dict[str, ActionHandler]:
    by_type: dict[str, ActionHandler] = {}
    for handler in handlers:
        if handler.type in by_type:
            raise DuplicateHandler(f"There are two handlers for the action type {handler.type}.")
        by_type[handler.type] = handler
    return by_type
