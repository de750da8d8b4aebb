"""An observer that remembers what it was told."""

from attrs import frozen

from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId
from orchestrator_domain.ports.observer import Command, Observer
from orchestrator_domain.request.request import FlowReference


@frozen(kw_only=True)
class RequestWasCreated:
    request_id: RequestId
    flow: FlowReference


@frozen(kw_only=True)
class EventWasAccepted:
    request_id: RequestId
    execution_id: ExecutionId
    flow: FlowReference


@frozen(kw_only=True)
class ExecutionWasResolved:
    request_id: RequestId
    execution_id: ExecutionId
    resolution: str


@frozen(kw_only=True)
class CommandRefused:
    command: Command
    code: str


@frozen(kw_only=True)
class ExecutionClaimed:
    """One claim; how long the execution had been due is left out, so that what was observed can be compared."""

    execution_id: ExecutionId
    attempt: int


@frozen(kw_only=True)
class ActionAttempted:
    """One attempt; its duration is left out, so that what was observed can be compared."""

    execution_id: ExecutionId
    action: ActionKey
    attempt: int
    integration_key: str | None
    outcome: str


@frozen(kw_only=True)
class EffectProbed:
    """One status query; its duration is left out, so that what was observed can be compared."""

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
class LeaseRenewalFailed:
    code: str
    kind: str


@frozen(kw_only=True)
class WorkerDisturbed:
    """An unexpected exception; its place in the sources is left out, so that what was observed can be compared."""

    execution_id: ExecutionId | None
    code: str
    kind: str


type Observation = (
    RequestWasCreated
    | EventWasAccepted
    | ExecutionWasResolved
    | CommandRefused
    | ExecutionClaimed
    | ActionAttempted
    | EffectProbed
    | ExecutionEnded
    | LeaseWasLost
    | LeaseRenewalFailed
    | WorkerDisturbed
)


class RecordingObserver(Observer):
    """Keep every observation in `observations`, in the order in which they came."""

    def __init__(self) -> None:
        self.observations: list[Observation] = []

    def request_created(self, *, request_id: RequestId, flow: FlowReference) -> None:
        self.observations.append(RequestWasCreated(request_id=request_id, flow=flow))

    def event_accepted(
        self, *, request_id: RequestId, execution_id: ExecutionId, flow: FlowReference
    ) -> None:
        self.observations.append(
            EventWasAccepted(request_id=request_id, execution_id=execution_id, flow=flow)
        )

    def execution_resolved(
        self, *, request_id: RequestId, execution_id: ExecutionId, resolution: str
    ) -> None:
        self.observations.append(
            ExecutionWasResolved(request_id=request_id, execution_id=execution_id, resolution=resolution)
        )

    def command_refused(self, *, command: Command, code: str) -> None:
        self.observations.append(CommandRefused(command=command, code=code))

    def execution_claimed(
        self,
        *,
        execution_id: ExecutionId,
        attempt: int,
        due_seconds: float | None,  # noqa: ARG002  # a recording is compared, and durations differ
    ) -> None:
        self.observations.append(ExecutionClaimed(execution_id=execution_id, attempt=attempt))

    def action_attempted(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        attempt: int,
        integration_key: str | None,
        outcome: str,
        seconds: float,  # noqa: ARG002  # a recording is compared, and durations differ
    ) -> None:
        self.observations.append(
            ActionAttempted(
                execution_id=execution_id,
                action=action,
                attempt=attempt,
                integration_key=integration_key,
                outcome=outcome,
            )
        )

    def effect_probed(
        self,
        *,
        execution_id: ExecutionId,
        action: ActionKey,
        integration_key: str | None,
        outcome: str,
        seconds: float,  # noqa: ARG002  # a recording is compared, and durations differ
    ) -> None:
        self.observations.append(
            EffectProbed(
                execution_id=execution_id, action=action, integration_key=integration_key, outcome=outcome
            )
        )

    def execution_ended(self, *, execution_id: ExecutionId, status: str, error_code: str | None) -> None:
        self.observations.append(
            ExecutionEnded(execution_id=execution_id, status=status, error_code=error_code)
        )

    def lease_lost(self, *, execution_id: ExecutionId) -> None:
        self.observations.append(LeaseWasLost(execution_id=execution_id))

    def lease_renewal_failed(
        self,
        *,
        code: str,
        kind: str,
        origin: str,  # noqa: ARG002  # a line number says nothing about behaviour
    ) -> None:
        self.observations.append(LeaseRenewalFailed(code=code, kind=kind))

    def worker_disturbed(
        self,
        *,
        execution_id: ExecutionId | None,
        code: str,
        kind: str,
        origin: str,  # noqa: ARG002  # a line number says nothing about behaviour
    ) -> None:
        self.observations.append(WorkerDisturbed(execution_id=execution_id, code=code, kind=kind))
