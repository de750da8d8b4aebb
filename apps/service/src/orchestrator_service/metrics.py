"""What the processes tell Prometheus: counters and durations with bounded labels, never an id of a request.

`ObservedByMetricsAndLogs` is the one observer of the assembled service: each fact becomes a metric and a log line.
"""

from attrs import define, field
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from structlog.stdlib import BoundLogger, get_logger

from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId
from orchestrator_domain.ports.observer import Observer

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


@define
class Metrics:
    """The metrics of one process, in a registry of their own."""

    registry: CollectorRegistry = field(factory=CollectorRegistry)
    accepted: Counter = field(init=False)
    refused: Counter = field(init=False)
    claimed: Counter = field(init=False)
    ended: Counter = field(init=False)
    leases_lost: Counter = field(init=False)
    disturbances: Counter = field(init=False)
    attempts: Histogram = field(init=False)
    answers: Histogram = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.accepted = self._counter("commands_accepted", "Events that were accepted")
        self.refused = self._counter("commands_refused", "Events that were refused, by problem code", "code")
        self.claimed = self._counter("executions_claimed", "Claims of executions by this process")
        self.ended = self._counter(
            "executions_ended", "Runs by the status that they left", "status", "error_code"
        )
        self.leases_lost = self._counter("leases_lost", "Runs that stopped because their lease was lost")
        self.disturbances = self._counter(
            "worker_disturbances", "Unexpected faults that a worker survived", "code"
        )
        self.attempts = self._durations(
            "action_attempt_seconds",
            "Duration of attempts, by integration and what happened",
            "integration",
            "outcome",
        )
        self.answers = self._durations(
            "http_answer_seconds",
            "Time from a request to the end of its answer, by the template of its path",
            "method",
            "route",
            "status",
        )

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(f"orchestrator_{name}", meaning, labels, registry=self.registry)

    def _durations(self, name: str, meaning: str, *labels: str) -> Histogram:
        return Histogram(f"orchestrator_{name}", meaning, labels, registry=self.registry, buckets=_BUCKETS)


@define
class ObservedByMetricsAndLogs(Observer):
    """Count and log what happens."""

    metrics: Metrics
    _log: BoundLogger = field(factory=lambda: get_logger("orchestrator"))

    def command_accepted(self, *, request_id: RequestId, execution_id: ExecutionId) -> None:
        self.metrics.accepted.inc()
        self._log.info("event_accepted", requestId=str(request_id), executionId=str(execution_id))

    def command_refused(self, *, code: str) -> None:
        self.metrics.refused.labels(code).inc()
        self._log.info("event_refused", code=code)

    def execution_claimed(self, *, execution_id: ExecutionId, attempt: int) -> None:
        self.metrics.claimed.inc()
        self._log.debug("execution_claimed", executionId=str(execution_id), attempt=attempt)

    def action_attempted(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        integration_key: str | None,
        outcome: str,
        seconds: float,
    ) -> None:
        self.metrics.attempts.labels(integration_key or "none", outcome).observe(seconds)
        self._log.info(
            "action_attempted",
            executionId=str(execution_id),
            actionId=action,
            integrationKey=integration_key,
            outcome=outcome,
            seconds=round(seconds, 6),
        )

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:
        self.metrics.ended.labels(status, error_code or "none").inc()
        self._log.info("execution_ended", executionId=str(execution_id), status=status, errorCode=error_code)

    def lease_lost(self, *, execution_id: ExecutionId) -> None:
        self.metrics.leases_lost.inc()
        self._log.warning("lease_lost", executionId=str(execution_id))

    def worker_disturbed(
        self, *, execution_id: ExecutionId | None, code: str, kind: str, origin: str
    ) -> None:
        self.metrics.disturbances.labels(code).inc()
        self._log.error(
            "worker_disturbed",
            executionId=None if execution_id is None else str(execution_id),
            code=code,
            kind=kind,
            origin=origin,
        )
