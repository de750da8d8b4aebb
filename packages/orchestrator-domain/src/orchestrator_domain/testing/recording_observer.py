"""An observer that remembers what it was told."""

from attrs import frozen

from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId
from orchestrator_domain.ports.observer import Observer


@frozen(kw_only=True)
class CommandAccepted:
    request_id: RequestId
    execution_id: ExecutionId


@frozen(kw_only=True)
class CommandRefused:
    code: str


@frozen(kw_only=True)
class ExecutionClaimed:
    execution_id: ExecutionId
    attempt: int


@frozen(kw_only=True)
class ActionAttempted:
    """One attempt; its duration is left out, so that what was observed can be compared."""

    execution_id: ExecutionId
    action: ActionKey
    integration_key: str | None
    outcome: str


@frozen(kw_only=True)
class ExecutionEnded:
    execution_id: ExecutionId
    status: str
    error_code: str | None


@frozen(kw_only=True)
class LeaseWasLost:
    execution_id: ExecutionId


@frozen(kw_only=True)
class WorkerDisturbed:
    """An unexpected exception; its place in the sources is left out, so that what was observed can be compared."""

    execution_id: ExecutionId | None
    code: str
    kind: str


type Observation = (
    CommandAccepted
    | CommandRefused
    | ExecutionClaimed
    | ActionAttempted
    | ExecutionEnded
    | LeaseWasLost
    | WorkerDisturbed
)


class RecordingObserver(Observer):
    """Keep every observation in `observations`, in the order in which they came."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []

    def command_accepted(self, *, request_id: RequestId, execution_id: ExecutionId) -> None:
        self.observations.append(CommandAccepted(request_id=request_id, execution_id=execution_id))

    def command_refused(self, *, code: str) -> None:
        self.observations.append(CommandRefused(code=code))

    def execution_claimed(self, *, execution_id: ExecutionId, attempt: int) -> None:
        self.observations.append(ExecutionClaimed(execution_id=execution_id, attempt=attempt))

    def action_attempted(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        integration_key: str | None,
        outcome: str,
        seconds: float,  # noqa: ARG002  # a recording is compared, and durations differ
    ) -> None:
        self.observations.append(
            ActionAttempted(
                execution_id=execution_id, action=action, integration_key=integration_key, outcome=outcome
            )
        )

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:
        self.observations.append(
            ExecutionEnded(execution_id=execution_id, status=status, error_code=error_code)
        )

    def lease_lost(self, *, execution_id: ExecutionId) -> None:
        self.observations.append(LeaseWasLost(execution_id=execution_id))

    def worker_disturbed(
        self,
        *,
        execution_id: ExecutionId | None,
        code: str,
        kind: str,
        origin: str,  # noqa: ARG002  # a line number says nothing about behaviour
    ) -> None:
        self.observations.append(WorkerDisturbed(execution_id=execution_id, code=code, kind=kind))
