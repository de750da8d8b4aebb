"""Accept an event: one short transaction, and nothing is called in it."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.errors import NotFound, OrchestratorError
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.identifiers import AuditEntryId, ExecutionId
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.observer import Observer
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_domain.request.acceptance import (
    Accepted,
    AcceptEventCommand,
    Repeated,
    decide_acceptance,
)
from orchestrator_domain.usecases.flow_library import FlowLibrary


@frozen(kw_only=True)
class EventAccepted:
    """The execution of the event, and whether an earlier command with the same key had started it already."""

    execution: Execution
    replayed: bool


@frozen(kw_only=True)
class AcceptEvent:
    """Accept events, durably idempotent per request and key.

    Raises NotFound, IdempotencyConflict, RevisionMismatch, RequestBusy, InvalidEvent, AccessDenied, InvalidInput,
    EvaluationError, GuardNotSatisfied or StorageUnavailable; then nothing has been stored, but for the last one, whose
    outcome is unknown and safe to repeat.
    """

    unit_of_work: UnitOfWork
    flows: FlowLibrary
    identifiers: Identifiers
    wakeup: Wakeup
    observer: Observer

    async def __call__(self, command: AcceptEventCommand, actor: Actor) -> EventAccepted:
        async def story(work: Transaction) -> EventAccepted:
            return await self._accept(work, command, actor)

        try:
            accepted = await self.unit_of_work.run(story)
        except OrchestratorError as refusal:
            self.observer.command_refused(code=refusal.code)
            raise
        if not accepted.replayed:
            self.wakeup.hint()
            self.observer.command_accepted(request_id=command.request_id, execution_id=accepted.execution.id)
        return accepted

    async def _accept(self, work: Transaction, command: AcceptEventCommand, actor: Actor) -> EventAccepted:
        visible = await work.requests.lock_visible(command.request_id, actor)
        if visible is None:
            raise NotFound("There is no such request.")
        decision = decide_acceptance(
            command,
            actor,
            request=visible.request,
            flow=await self.flows.ready(visible.request.flow, work.flows),
            earlier=await work.requests.execution_by_key(command.request_id, command.key),
            active=visible.active_execution,
            execution_id=ExecutionId(self.identifiers.uuid()),
        )
        match decision:
            case Repeated(execution=execution):
                return EventAccepted(execution=execution, replayed=True)
            case Accepted() as accepted:
                fact = self._fact(accepted, actor)
                stored = await work.requests.save_acceptance(accepted.request, accepted.execution, fact)
                return EventAccepted(execution=stored, replayed=False)

    def _fact(self, accepted: Accepted, actor: Actor) -> AuditFact:
        execution = accepted.execution
        return AuditFact(
            id=AuditEntryId(self.identifiers.uuid()),
            kind=AuditKind.EVENT_ACCEPTED,
            actor=actor.subject,
            flow_id=accepted.request.flow.id,
            execution_id=execution.id,
            from_state=execution.from_state,
            detail={
                "event": execution.event,
                "transitionId": execution.transition,
                "acceptedRevision": execution.accepted_revision,
                "correlationId": execution.correlation_id,
            },
            salt=self.identifiers.salt(),
        )
