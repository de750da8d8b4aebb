"""The recording observer remembers what it was told, in order."""

from uuid import UUID

from orchestrator_domain.identifiers import (
    ActionKey,
    ExecutionId,
    FlowId,
    FlowKey,
    RequestId,
    Sha256Hex,
)
from orchestrator_domain.ports.observer import Command
from orchestrator_domain.request.request import FlowReference
from orchestrator_domain.testing.recording_observer import (
    ActionAttempted,
    CommandRefused,
    EventWasAccepted,
    ExecutionClaimed,
    ExecutionEnded,
    ExecutionWasResolved,
    LeaseRenewalFailed,
    LeaseWasLost,
    RecordingObserver,
    RequestWasCreated,
)
from orchestrator_domain.testing.sequential_identifiers import SequentialIdentifiers

FLOW = FlowReference(id=FlowId(UUID(int=7)), key=FlowKey("LENDING"), version=1, checksum=Sha256Hex("0" * 64))


def test_observations_are_kept_in_the_order_in_which_they_came() -> None:
    identifiers, observer = SequentialIdentifiers(), RecordingObserver()
    request, execution = RequestId(identifiers.uuid()), ExecutionId(identifiers.uuid())
    action = ActionKey("lookup")
    observer.request_created(request_id=request, flow=FLOW)
    observer.event_accepted(request_id=request, execution_id=execution, flow=FLOW)
    observer.command_refused(command=Command.SEND_EVENT, code="REQUEST_BUSY")
    observer.execution_claimed(execution_id=execution, attempt=1, due_seconds=0.2)
    observer.action_attempted(
        execution_id=execution,
        action=action,
        attempt=2,
        integration_key=None,
        outcome="Succeeded",
        seconds=0.1,
    )
    observer.lease_renewal_failed(code="STORAGE_UNAVAILABLE", kind="Timeout", origin="here:1")
    observer.lease_lost(execution_id=execution)
    observer.execution_resolved(request_id=request, execution_id=execution, resolution="RESUME_WITH_RESULT")
    observer.execution_ended(execution_id=execution, status="FAILED", error_code="PROVIDER_REJECTED")
    assert observer.observations == [
        RequestWasCreated(request_id=request, flow=FLOW),
        EventWasAccepted(request_id=request, execution_id=execution, flow=FLOW),
        CommandRefused(command=Command.SEND_EVENT, code="REQUEST_BUSY"),
        ExecutionClaimed(execution_id=execution, attempt=1),
        ActionAttempted(
            execution_id=execution, action=action, attempt=2, integration_key=None, outcome="Succeeded"
        ),
        LeaseRenewalFailed(code="STORAGE_UNAVAILABLE", kind="Timeout"),
        LeaseWasLost(execution_id=execution),
        ExecutionWasResolved(request_id=request, execution_id=execution, resolution="RESUME_WITH_RESULT"),
        ExecutionEnded(execution_id=execution, status="FAILED", error_code="PROVIDER_REJECTED"),
    ]
