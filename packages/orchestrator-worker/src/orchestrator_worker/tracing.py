"""Spans of what a worker does: an execution's run, each attempt of an action, each call to a provider.

They belong to the trace in which the event was accepted, however long ago and in whichever process. Attributes are ids,
keys, codes and statuses; what exceptions say is never recorded, for it may quote data.
"""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from attrs import evolve, frozen
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import NoOpTracer, Span, SpanKind, Status, StatusCode, Tracer, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from orchestrator_domain.execution.attempt import ActionResult
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.usecases.run_progress import RunEnded
from orchestrator_worker.attempt_outcome import outcome_of
from orchestrator_worker.fault_origin import code_of
from orchestrator_worker.invoke_integration import Caller
from orchestrator_worker.observed_calls import answer_name
from orchestrator_worker.provider_answer import Answer, CallOutcome
from orchestrator_worker.provider_request import ProviderRequest
from orchestrator_worker.slots import Runner

_WIRE: Final = TraceContextTextMapPropagator()

type Attempt = Callable[[ActionDefinition, ActionContext], Awaitable[ActionResult]]


class Runs(Protocol):
    """Carry out claimed executions as `ExecutionRunner` does."""

    async def run(self, claimed: ClaimedExecution) -> RunEnded: ...


@frozen
class TracedRuns(Runner):
    """Run executions inside the trace of the command that asked for them; without a trace to record, merely run them."""

    _runner: Runs
    _tracer: Tracer

    async def run(self, claimed: ClaimedExecution) -> RunEnded:
        parent = claimed.execution.trace_parent
        if parent is None and not _records(self._tracer):
            return await self._runner.run(claimed)
        # Attached rather than handed over: where nothing is recorded, what the client began is still passed on.
        token = attach(Context() if parent is None else _WIRE.extract({"traceparent": parent}))
        try:
            return await self._traced(claimed)
        finally:
            detach(token)

    async def _traced(self, claimed: ClaimedExecution) -> RunEnded:
        with self._tracer.start_as_current_span(
            "run execution",
            kind=SpanKind.CONSUMER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            if span.is_recording():
                span.set_attributes(_attributes_of(claimed))
            try:
                ended = await self._runner.run(claimed)
            except Exception as error:
                _failed(span, code_of(error))
                raise
            if span.is_recording():
                span.set_attribute("orchestrator.execution.status", ended.status.value)
            if ended.error_code is not None:
                _failed(span, ended.error_code)
            return ended


def traced_attempts(attempt: Attempt, tracer: Tracer) -> Attempt:
    """Return `attempt` with a span around each attempt, if anything records them."""
    if not _records(tracer):
        return attempt

    async def traced(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        with tracer.start_as_current_span(
            f"attempt {definition.type}", record_exception=False, set_status_on_exception=False
        ) as span:
            result = await attempt(definition, context)
            if span.is_recording():
                span.set_attributes(
                    {
                        "orchestrator.action.id": definition.id,
                        "orchestrator.action.attempt": context.attempt,
                        "orchestrator.integration.key": context.contract.integration_key or "none",
                        "orchestrator.action.outcome": outcome_of(result),
                    }
                )
            return result

    return traced


@frozen
class TracedCalls(Caller):
    """Tell the provider the place in the trace, by the header `traceparent`, and record the call without its address."""

    _calls: Caller
    _tracer: Tracer

    async def call(self, request: ProviderRequest) -> CallOutcome:
        if not _records(self._tracer):
            return await self._calls.call(_with_place_in_trace(request))
        with self._tracer.start_as_current_span(
            f"{request.method} {request.endpoint.name}",
            kind=SpanKind.CLIENT,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            outcome = await self._calls.call(_with_place_in_trace(request))
            if span.is_recording():
                span.set_attribute("orchestrator.endpoint", request.endpoint.name)
                span.set_attribute("http.request.method", request.method)
                _tell(span, outcome)
            return outcome


def _records(tracer: Tracer) -> bool:
    """Say whether spans are worth making: even one that records nothing costs as much as a statement's share of a batch."""
    return not isinstance(tracer, NoOpTracer)


def _with_place_in_trace(request: ProviderRequest) -> ProviderRequest:
    if not get_current_span().get_span_context().is_valid:
        return request
    place: dict[str, str] = {}
    _WIRE.inject(place)
    return evolve(request, headers={**request.headers, **place})


def _attributes_of(claimed: ClaimedExecution) -> dict[str, str | int]:
    return {
        "orchestrator.execution.id": str(claimed.execution.id),
        "orchestrator.request.id": str(claimed.request.id),
        "orchestrator.flow.key": claimed.request.flow.key,
        "orchestrator.flow.version": claimed.request.flow.version,
        "orchestrator.execution.attempt": claimed.execution.attempts,
    }


def _tell(span: Span, outcome: CallOutcome) -> None:
    if isinstance(outcome, Answer):
        span.set_attribute("http.response.status_code", outcome.status)
        if outcome.status >= 400:
            _failed(span, str(outcome.status))
    else:
        _failed(span, answer_name(outcome))


def _failed(span: Span, code: str) -> None:
    if span.is_recording():
        span.set_attribute("error.type", code)
        span.set_status(Status(StatusCode.ERROR))
