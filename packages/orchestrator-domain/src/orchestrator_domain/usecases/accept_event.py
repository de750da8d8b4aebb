"""Accept an event: it is judged in one short transaction, and nothing is called in it."""

from attrs import frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.errors import NotFound, OrchestratorError
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.identifiers import AuditEntryId, ExecutionId
from orchestrator_domain.ports.event_judgement import (
    AddressedEvent,
    AnsweredEvent,
    NewExecution,
    RequestAtHand,
)
from orchestrator_domain.ports.flow_store import FlowStore
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.observer import Command, Observer
from orchestrator_domain.ports.unit_of_work import UnitOfWork
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
        # One id however often the event is judged: who finds it knows that an earlier commit had happened.
        execution_id = ExecutionId(self.identifiers.uuid())

        async def judge(found: RequestAtHand | None, flows: FlowStore) -> NewExecution | AnsweredEvent:
            return await self._judged(found, flows, command, actor, execution_id)

        event = AddressedEvent(request_id=command.request_id, actor=actor, key=command.key)
        try:
            answered = await self.unit_of_work.judge_event(event, judge)
        except OrchestratorError as refusal:
            self.observer.command_refused(command=Command.SEND_EVENT, code=refusal.code)
            raise
        execution, flow = answered.execution, answered.request.flow
        replayed = execution.id != execution_id
        if execution.status is ExecutionStatus.PENDING:
            self.wakeup.hint()
        if not replayed:
            self.observer.event_accepted(request_id=command.request_id, execution_id=execution.id, flow=flow)
        return EventAccepted(execution=execution, flow=flow, replayed=replayed)

    async def _judged(
        self,
        found: RequestAtHand | None,
        flows: FlowStore,
        command: AcceptEventCommand,
        actor: Actor,
        execution_id: ExecutionId,
    ) -> NewExecution | AnsweredEvent:
        if found is None:
            raise NotFound("There is no such request.")
        decision = decide_acceptance(
            command,
            actor,
            request=found.request,
            flow=await self.flows.ready(found.request.flow, flows),
            earlier=found.earlier,
            active=found.active_execution,
            execution_id=execution_id,
        )
        match decision:
            case Repeated(execution=execution):
                return AnsweredEvent(request=found.request, execution=execution)
            case Accepted(request=request, execution=execution):
                return NewExecution(request=request, execution=execution, fact=self._fact(decision, actor))

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
