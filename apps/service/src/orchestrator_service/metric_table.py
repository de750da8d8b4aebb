"""Every metric there is: its name, kind, labels and meaning, in one place.

Labels are bounded: keys of the catalogue, codes, statuses and templates of paths, never an id and never a value that
somebody sent. `docs/reference/metrics.md` is made of this table.
"""

from typing import Final, Literal

from attrs import frozen

from orchestrator_domain.execution.reconciliation import ResolutionKind
from orchestrator_domain.ports.observer import Command

type Kind = Literal["counter", "gauge", "histogram"]

_CODES_OF_FAULTS: Final = ("INTERNAL_ERROR", "STORAGE_UNAVAILABLE")
"""What a worker's faults come to in all likelihood; others of our own errors are born when they happen."""


@frozen(kw_only=True)
class Metric:
    """One metric as Prometheus sees it; `scope` tells whether a process speaks of itself or of the whole queue.

    `known` are values of the only label that are told as 0 from the start: a series that is born with its first 1 has
    no increase then, and an alert misses it.
    """

    name: str
    kind: Kind
    meaning: str
    labels: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    scope: Literal["process", "queue"] = "process"


COMMANDS_ACCEPTED: Final = Metric(
    name="orchestrator_commands_accepted_total",
    kind="counter",
    labels=("command",),
    known=tuple(Command),
    meaning="Commands that were accepted: create_request, send_event, resolve_execution; repetitions aren't counted.",
)
COMMANDS_REFUSED: Final = Metric(
    name="orchestrator_commands_refused_total",
    kind="counter",
    labels=("command", "code"),
    meaning="Commands that were refused after their form had been found good, by problem code.",
)
RESOLUTIONS: Final = Metric(
    name="orchestrator_resolutions_total",
    kind="counter",
    labels=("resolution",),
    known=tuple(ResolutionKind),
    meaning="Executions that operators resolved, by the way they chose.",
)
HTTP_ANSWERS: Final = Metric(
    name="orchestrator_http_answer_seconds",
    kind="histogram",
    labels=("method", "route", "status"),
    meaning="Time from a request to the end of its answer, by the template of its path.",
)
HTTP_PROBLEMS: Final = Metric(
    name="orchestrator_http_problems_total",
    kind="counter",
    labels=("route", "code"),
    meaning="Answers that told a problem, by its code and the template of the path.",
)
CLAIMS: Final = Metric(
    name="orchestrator_executions_claimed_total",
    kind="counter",
    meaning="Executions that this process claimed, those taken over from others included.",
)
CLAIM_SECONDS: Final = Metric(
    name="orchestrator_claim_seconds",
    kind="histogram",
    meaning="Duration of one claim, whatever it brought.",
)
DUE_SECONDS: Final = Metric(
    name="orchestrator_execution_due_seconds",
    kind="histogram",
    meaning="How long executions had been due when they were claimed, by the database's clock.",
)
RUN_SECONDS: Final = Metric(
    name="orchestrator_run_seconds",
    kind="histogram",
    labels=("status",),
    meaning="Duration of runs, from the claim to the end that they stored, by the status that they left.",
)
ENDED: Final = Metric(
    name="orchestrator_executions_ended_total",
    kind="counter",
    labels=("status", "error_code"),
    meaning="Runs that ended, by the status that they left; RETRY_WAIT is a retry that was scheduled.",
)
LEASES_LOST: Final = Metric(
    name="orchestrator_leases_lost_total",
    kind="counter",
    meaning="Runs that stopped because their lease was lost.",
)
RENEWAL_FAILURES: Final = Metric(
    name="orchestrator_lease_renewal_failures_total",
    kind="counter",
    labels=("code",),
    known=_CODES_OF_FAULTS,
    meaning="Renewals of all held leases that failed and were tried again.",
)
DISTURBANCES: Final = Metric(
    name="orchestrator_worker_disturbances_total",
    kind="counter",
    labels=("code",),
    known=_CODES_OF_FAULTS,
    meaning="Unexpected faults that a worker survived.",
)
SLOTS: Final = Metric(
    name="orchestrator_worker_slots",
    kind="gauge",
    meaning="Executions that this process may run at once; absent from a process without a worker.",
)
SLOTS_IN_USE: Final = Metric(
    name="orchestrator_worker_slots_in_use",
    kind="gauge",
    meaning="Executions that this process runs now.",
)
ATTEMPTS: Final = Metric(
    name="orchestrator_action_attempt_seconds",
    kind="histogram",
    labels=("integration", "outcome"),
    meaning="Duration of attempts of actions, by integration key and by what happened: SUCCEEDED or an error code.",
)
PROBES: Final = Metric(
    name="orchestrator_effect_probe_seconds",
    kind="histogram",
    labels=("integration", "outcome"),
    meaning="Duration of status queries about effects in doubt, by integration key and by what was said: CONFIRMED, NOT_FOUND or a code.",
)
ACTION_RETRIES: Final = Metric(
    name="orchestrator_action_retries_total",
    kind="counter",
    labels=("integration",),
    meaning="Attempts of actions that were not their first.",
)
PROVIDER_CALLS: Final = Metric(
    name="orchestrator_provider_call_seconds",
    kind="histogram",
    labels=("endpoint", "answer"),
    meaning="Duration of calls to providers, by endpoint and by the status of the answer or what came instead of one.",
)
CIRCUITS: Final = Metric(
    name="orchestrator_circuit_state",
    kind="gauge",
    labels=("endpoint", "state"),
    meaning="1 for the state in which an endpoint's circuit stands in this process (closed, open, probing), else 0.",
)
POOL_CONNECTIONS: Final = Metric(
    name="orchestrator_pool_connections",
    kind="gauge",
    labels=("state",),
    meaning="Connections of this process's pool, by state: busy (lent or being opened) or idle. Queue and renewals keep others of their own.",
)
POOL_CONNECTIONS_MAX: Final = Metric(
    name="orchestrator_pool_connections_max",
    kind="gauge",
    meaning="Connections that the pool may have at most (DATABASE_POOL).",
)
POOL_WAITING: Final = Metric(
    name="orchestrator_pool_waiting",
    kind="gauge",
    meaning="Callers that wait for a connection of the pool now.",
)
QUEUE_OBSERVED: Final = Metric(
    name="orchestrator_queue_observed",
    kind="gauge",
    meaning="1 if this process could read the queue's state lately, else 0; then the gauges of the queue are absent.",
)
QUEUE_EXECUTIONS: Final = Metric(
    name="orchestrator_queue_executions",
    kind="gauge",
    labels=("status",),
    scope="queue",
    meaning="Executions that have not ended, by status; at most 100,000 are counted.",
)
QUEUE_LONGEST_DUE: Final = Metric(
    name="orchestrator_queue_longest_due_seconds",
    kind="gauge",
    scope="queue",
    meaning="For how long the oldest pending execution has been due (PENDING, or RETRY_WAIT whose time has come).",
)
QUEUE_EXPIRED_LEASES: Final = Metric(
    name="orchestrator_queue_expired_leases",
    kind="gauge",
    scope="queue",
    meaning="Executions that are RUNNING past their lease and wait to be taken over.",
)
QUEUE_OLDEST_RECONCILIATION: Final = Metric(
    name="orchestrator_queue_oldest_reconciliation_seconds",
    kind="gauge",
    scope="queue",
    meaning="For how long the oldest execution in RECONCILIATION_REQUIRED has waited for an operator.",
)

METRICS: Final = (
    COMMANDS_ACCEPTED,
    COMMANDS_REFUSED,
    RESOLUTIONS,
    HTTP_ANSWERS,
    HTTP_PROBLEMS,
    CLAIMS,
    CLAIM_SECONDS,
    DUE_SECONDS,
    RUN_SECONDS,
    ENDED,
    LEASES_LOST,
    RENEWAL_FAILURES,
    DISTURBANCES,
    SLOTS,
    SLOTS_IN_USE,
    ATTEMPTS,
    PROBES,
    ACTION_RETRIES,
    PROVIDER_CALLS,
    CIRCUITS,
    POOL_CONNECTIONS,
    POOL_CONNECTIONS_MAX,
    POOL_WAITING,
    QUEUE_OBSERVED,
    QUEUE_EXECUTIONS,
    QUEUE_LONGEST_DUE,
    QUEUE_EXPIRED_LEASES,
    QUEUE_OLDEST_RECONCILIATION,
)
