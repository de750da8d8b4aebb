"""Accept an event: one short transaction, and nothing is called in it."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.errors import NotFound, OrchestratorError
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.identifiers import AuditEntryId, ExecutionId
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.observer import Command, Observer
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_domain.request.acceptance import (
    Accepted,
    AcceptEventCommand,
    Repeated,
    decide_acceptance,
)
from orchestrator_domain.request.request import FlowReference
from orchestrator_domain.usecases.flow_library import FlowLibrary


@frozen(kw_only=True)
class EventAccepted:
    """The execution of the event, its flow version, and whether another command with the same key had started it."""

    execution: Execution
    flow: FlowReference
    replayed: bool


@frozen(kw_only=True)
class AcceptEvent:
    """Accept events, durably idempotent per request and key.

    Raises NotFound, IdempotencyConflict, RevisionMismatch, RequestBusy, RequestErased, InvalidEvent, AccessDenied, InvalidInput,
    EvaluationError, GuardNotSatisfied or StorageUnavailable; then nothing has been stored, but for the last one, whose
    outcome is unknown and safe to repeat. Workers are given a hint as long as nobody has begun the execution, whoever
    stored it, for whoever did may have died before giving one.
    """

    unit_of_work: UnitOfWork
    flows: FlowLibrary
    identifiers: Identifiers
    wakeup: Wakeup
    observer: Observer

    async def __call__(self, command: AcceptEventCommand, actor: Actor) -> EventAccepted:
        # One id for all runs of the story: a second run that finds it knows that the first one's commit had happened.
        execution_id = ExecutionId(self.identifiers.uuid())

        async def story(work: Transaction) -> EventAccepted:
            return await self._accept(work, command, actor, execution_id)

        try:
            accepted = await self.unit_of_work.run(story)
        except OrchestratorError as refusal:
            self.observer.command_refused(command=Command.SEND_EVENT, code=refusal.code)
            raise
        if accepted.execution.status is ExecutionStatus.PENDING:
            self.wakeup.hint()
        if not accepted.replayed:
            self.observer.event_accepted(
                request_id=command.request_id, execution_id=accepted.execution.id, flow=accepted.flow
            )
        return accepted

    async def _accept(
        self, work: Transaction, command: AcceptEventCommand, actor: Actor, execution_id: ExecutionId
    ) -> EventAccepted:
        visible = await work.requests.lock_visible(command.request_id, actor)
        if visible is None:
            raise NotFound("There is no such request.")
        flow = visible.request.flow
        decision = decide_acceptance(
            command,
            actor,
            request=visible.request,
            flow=await self.flows.ready(flow, work.flows),
            earlier=await work.requests.execution_by_key(command.request_id, command.key),
            active=visible.active_execution,
            execution_id=execution_id,
        )
        match decision:
            case Repeated(execution=execution):
                return EventAccepted(execution=execution, flow=flow, replayed=execution.id != execution_id)
            case Accepted() as accepted:
                fact = self._fact(accepted, actor)
                stored = await work.requests.save_acceptance(accepted.request, accepted.execution, fact)
                return EventAccepted(execution=stored, flow=flow, replayed=False)

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
