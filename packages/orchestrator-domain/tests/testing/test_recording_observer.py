"""The recording observer remembers what it was told, in order."""

from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId
from orchestrator_domain.testing.recording_observer import (
    ActionAttempted,
    CommandAccepted,
    CommandRefused,
    ExecutionClaimed,
    ExecutionEnded,
    LeaseWasLost,
    RecordingObserver,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers


def test_observations_are_kept_in_the_order_in_which_they_came() -> None:
    identifiers, observer = SequentialIdentifiers(), RecordingObserver()
    request, execution = RequestId(identifiers.uuid()), ExecutionId(identifiers.uuid())
    action = ActionKey("lookup")
    observer.command_accepted(request_id=request, execution_id=execution)
    observer.command_refused(code="REQUEST_BUSY")
    observer.execution_claimed(execution_id=execution, attempt=1)
    observer.action_attempted(
        execution_id=execution, action=action, integration_key=None, outcome="Succeeded", seconds=0.1
    )
    observer.lease_lost(execution_id=execution)
    observer.execution_ended(execution_id=execution, status="FAILED", error_code="PROVIDER_REJECTED")
    assert observer.observations == [
        CommandAccepted(request_id=request, execution_id=execution),
        CommandRefused(code="REQUEST_BUSY"),
        ExecutionClaimed(execution_id=execution, attempt=1),
        ActionAttempted(execution_id=execution, action=action, integration_key=None, outcome="Succeeded"),
        LeaseWasLost(execution_id=execution),
        ExecutionEnded(execution_id=execution, status="FAILED", error_code="PROVIDER_REJECTED"),
    ]
