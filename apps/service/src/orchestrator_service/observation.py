"""The one observer of the assembled service: each fact becomes a metric and a log line.

What a run is about (`run_context`) is bound once, in the context of the run, and every line that is written inside it
carries it, those of libraries included.
"""

from contextvars import ContextVar
from time import monotonic
from typing import Final

from attrs import define, field
from structlog.contextvars import bind_contextvars
from structlog.stdlib import BoundLogger, get_logger

from orchestrator_domain.identifiers import ActionKey, CorrelationId, ExecutionId, RequestId
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_domain.ports.observer import Command, Observer
from orchestrator_domain.request.request import FlowReference
from orchestrator_service import metric_table as told
from orchestrator_service.metrics import BoundedLabel, Metrics

_RUN_BEGAN_AT: Final[ContextVar[float | None]] = ContextVar("run_began_at", default=None)


def run_context(claimed: ClaimedExecution) -> None:
    """Say what the run in this context is about; it ends with the context, which is the run's own."""
    _RUN_BEGAN_AT.set(monotonic())
    bind_contextvars(
        executionId=str(claimed.execution.id),
        requestId=str(claimed.request.id),
        correlationId=claimed.execution.correlation_id,
        flowKey=claimed.request.flow.key,
        flowVersion=claimed.request.flow.version,
        attempt=claimed.execution.attempts,
    )


def request_context(correlation_id: CorrelationId) -> None:
    """Say to which request this context belongs; it ends with the context, which is the request's own."""
    bind_contextvars(correlationId=correlation_id)


@define
class ObservedByMetricsAndLogs(Observer):
    """Count and log what happens."""

    metrics: Metrics
    _log: BoundLogger = field(factory=lambda: get_logger("orchestrator"))
    _codes: BoundedLabel = field(factory=BoundedLabel, init=False)
    _integrations: BoundedLabel = field(factory=BoundedLabel, init=False)
    _outcomes: BoundedLabel = field(factory=BoundedLabel, init=False)

    def request_created(self, *, request_id: RequestId, flow: FlowReference) -> None:
        self.metrics.counter(told.COMMANDS_ACCEPTED).labels(Command.CREATE_REQUEST).inc()
        self._log.info(
            "request_created", requestId=str(request_id), flowKey=flow.key, flowVersion=flow.version
        )

    def event_accepted(
        self, *, request_id: RequestId, execution_id: ExecutionId, flow: FlowReference
    ) -> None:
        self.metrics.counter(told.COMMANDS_ACCEPTED).labels(Command.SEND_EVENT).inc()
        self._log.info(
            "event_accepted",
            requestId=str(request_id),
            executionId=str(execution_id),
            flowKey=flow.key,
            flowVersion=flow.version,
        )

    def execution_resolved(
        self, *, request_id: RequestId, execution_id: ExecutionId, resolution: str
    ) -> None:
        self.metrics.counter(told.COMMANDS_ACCEPTED).labels(Command.RESOLVE_EXECUTION).inc()
        self.metrics.counter(told.RESOLUTIONS).labels(resolution).inc()
        self._log.info(
            "execution_resolved",
            requestId=str(request_id),
            executionId=str(execution_id),
            resolution=resolution,
        )

    def command_refused(self, *, command: Command, code: str) -> None:
        self.metrics.counter(told.COMMANDS_REFUSED).labels(command, code).inc()
        self._log.info("command_refused", command=command, code=code)

    def execution_claimed(
        self, *, execution_id: ExecutionId, attempt: int, due_seconds: float | None
    ) -> None:
        self.metrics.counter(told.CLAIMS).inc()
        if due_seconds is not None:
            self.metrics.histogram(told.DUE_SECONDS).observe(due_seconds)
        self._log.debug("execution_claimed", executionId=str(execution_id), attempt=attempt)

    def action_attempted(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        attempt: int,
        integration_key: str | None,
        outcome: str,
        seconds: float,
    ) -> None:
        integration = self._integrations.of(integration_key)
        self.metrics.histogram(told.ATTEMPTS).labels(integration, self._outcomes.of(outcome)).observe(seconds)
        if attempt > 1:
            self.metrics.counter(told.ACTION_RETRIES).labels(integration).inc()
        self._log.info(
            "action_attempted",
            executionId=str(execution_id),
            actionId=action,
            attempt=attempt,
            integrationKey=integration_key,
            outcome=outcome,
            seconds=round(seconds, 6),
        )

    def effect_probed(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        integration_key: str | None,
        outcome: str,
        seconds: float,
    ) -> None:
        integration = self._integrations.of(integration_key)
        self.metrics.histogram(told.PROBES).labels(integration, self._outcomes.of(outcome)).observe(seconds)
        self._log.info(
            "effect_probed",
            executionId=str(execution_id),
            actionId=action,
            integrationKey=integration_key,
            outcome=outcome,
            seconds=round(seconds, 6),
        )

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:
        self.metrics.counter(told.ENDED).labels(status, self._codes.of(error_code)).inc()
        began_at, seconds = _RUN_BEGAN_AT.get(), None
        if began_at is not None:
            seconds = monotonic() - began_at
            self.metrics.histogram(told.RUN_SECONDS).labels(status).observe(seconds)
        self._log.info(
            "execution_ended",
            executionId=str(execution_id),
            status=status,
            errorCode=error_code,
            seconds=None if seconds is None else round(seconds, 6),
        )

    def lease_lost(self, *, execution_id: ExecutionId) -> None:
        self.metrics.counter(told.LEASES_LOST).inc()
        self._log.warning("lease_lost", executionId=str(execution_id))

    def lease_renewal_failed(self, *, code: str, kind: str, origin: str) -> None:
        self.metrics.counter(told.RENEWAL_FAILURES).labels(code).inc()
        self._log.error("lease_renewal_failed", code=code, kind=kind, origin=origin)

    def worker_disturbed(
        self, *, execution_id: ExecutionId | None, code: str, kind: str, origin: str
    ) -> None:
        self.metrics.counter(told.DISTURBANCES).labels(code).inc()
        about = {} if execution_id is None else {"executionId": str(execution_id)}
        self._log.error("worker_disturbed", code=code, kind=kind, origin=origin, **about)
