"""Resolve executions that stopped before a human: within an operator's own scopes, with evidence, durably once."""

from attrs import field, frozen

from orchestrator_domain.actor import Actor
from orchestrator_domain.audit import AuditFact, AuditKind
from orchestrator_domain.errors import IdempotencyConflict, NotFound, OrchestratorError
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.execution.reconciliation import (
    ResolveCommand,
    decide_resolution,
    given_result,
    resolution_hash,
    resolution_kind,
)
from orchestrator_domain.identifiers import AuditEntryId, IdempotencyKey, ResolutionId
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.observer import Command, Observer, Unobserved
from orchestrator_domain.ports.reconciliation_store import ExecutionCase, ResolutionRecord
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.ports.wakeup import Wakeup
from orchestrator_domain.usecases.permissions import EXECUTION_OPERATOR, require_any
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions


@frozen(kw_only=True)
class ExecutionResolved:
    """The execution as it is now, the resolution, and whether an earlier command with this key had made it."""

    execution: Execution
    resolution: ResolutionRecord
    replayed: bool


@frozen(kw_only=True)
class ResolveExecution:
    """Take resolutions, durably idempotent per execution and key.

    Raises AccessDenied, NotFound (also for what lies outside the operator's scopes, its own requests included),
    IdempotencyConflict, ExecutionNotResolvable, InvalidInput or StorageUnavailable; then nothing has been stored, but
    for the last one, whose outcome is unknown and safe to repeat.
    """

    unit_of_work: UnitOfWork
    stopped: StoppedExecutions
    identifiers: Identifiers
    wakeup: Wakeup
    observer: Observer = field(factory=Unobserved)

    async def __call__(self, command: ResolveCommand, operator: Actor) -> ExecutionResolved:
        try:
            resolved = await self._told(command, operator)
        except OrchestratorError as refusal:
            self.observer.command_refused(command=Command.RESOLVE_EXECUTION, code=refusal.code)
            raise
        if resolved.replayed:
            return resolved
        if resolved.execution.status.active:
            self.wakeup.hint()
        self.observer.execution_resolved(
            request_id=resolved.execution.request_id,
            execution_id=resolved.execution.id,
            resolution=resolved.resolution.kind,
        )
        return resolved

    async def _told(self, command: ResolveCommand, operator: Actor) -> ExecutionResolved:
        require_any(operator, EXECUTION_OPERATOR)

        async def story(work: Transaction) -> ExecutionResolved:
            return await self._resolve(work, command, operator)

        return await self.unit_of_work.run(story)

    async def _resolve(
        self, work: Transaction, command: ResolveCommand, operator: Actor
    ) -> ExecutionResolved:
        case = await work.reconciliation.lock_case(command.execution_id, operator.scopes)
        if case is None:
            raise NotFound("There is no such execution in your business scopes.")
        earlier = await _earlier(work, case, command.key)
        if earlier is not None:
            return _repeated(command, case, earlier)
        shown = await self.stopped.examined(case, work)
        resolved = decide_resolution(command, case.execution, shown.stop, shown.contract)
        record = self._record(command, operator)
        fact = self._fact(command, case, record)
        execution = await work.reconciliation.save(case, resolved, record=record, fact=fact)
        return ExecutionResolved(execution=execution, resolution=record, replayed=False)

    def _record(self, command: ResolveCommand, operator: Actor) -> ResolutionRecord:
        return ResolutionRecord(
            id=ResolutionId(self.identifiers.uuid()),
            execution_id=command.execution_id,
            key=command.key,
            payload_hash=resolution_hash(command),
            action=command.action,
            kind=resolution_kind(command.way),
            evidence=command.evidence,
            result=given_result(command.way),
            operator=operator.subject,
            correlation_id=command.correlation_id,
        )

    def _fact(self, command: ResolveCommand, case: ExecutionCase, record: ResolutionRecord) -> AuditFact:
        return AuditFact(
            id=AuditEntryId(self.identifiers.uuid()),
            kind=AuditKind.RECONCILIATION_RESOLVED,
            actor=record.operator,
            flow_id=case.request.flow.id,
            execution_id=case.execution.id,
            from_state=case.execution.from_state,
            detail={
                "resolutionId": str(record.id),
                "resolution": record.kind.value,
                "action": command.action,
                # Which stop it ended, whether the command named it or not.
                "stop": case.execution.fencing_token,
                "errorCode": case.execution.error_code,
                # Proves which evidence and result the row of the resolution held when it was written.
                "payloadHash": record.payload_hash,
                "correlationId": command.correlation_id,
            },
            salt=self.identifiers.salt(),
        )


async def _earlier(work: Transaction, case: ExecutionCase, key: IdempotencyKey) -> ResolutionRecord | None:
    made = await work.reconciliation.resolutions(case.execution.id)
    return next((record for record in made if record.key == key), None)


def _repeated(command: ResolveCommand, case: ExecutionCase, earlier: ResolutionRecord) -> ExecutionResolved:
    if earlier.payload_hash != resolution_hash(command):
        raise IdempotencyConflict("This Idempotency-Key was used for another resolution; use a new key.")
    return ExecutionResolved(execution=case.execution, resolution=earlier, replayed=True)
