"""What one run knows of its execution, and what it writes of it."""

from attrs import define, field, frozen

from orchestrator_domain.audit import SYSTEM_SUBJECT, AuditFact, AuditKind
from orchestrator_domain.exact_json.value import JsonObject, copied
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.stepping import AskProbe, Run, StartAction
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import Transition
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, AuditEntryId, CheckpointId, StateKey
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution
from orchestrator_domain.ports.identifiers import Identifiers


@frozen(kw_only=True)
class RunEnded:
    """How the run left the execution, for whoever measures it."""

    status: ExecutionStatus
    error_code: str | None = None


@define(kw_only=True)
class RunProgress:
    """What one run knows: the checkpoints as stored, its own results, and the writes that wait for the next commit."""

    claimed: ClaimedExecution
    flow: ReadyFlow
    transition: Transition
    contracts: dict[ActionKey, ActionContract]
    checkpoints: dict[ActionKey, Checkpoint]
    own_results: dict[ActionKey, JsonObject] = field(factory=dict)
    unsaved: list[CheckpointWrite] = field(factory=list)

    def as_run(self) -> Run:
        """Return what the next step depends on."""
        return Run(
            execution=self.claimed.execution,
            request_data=self.claimed.request.data,
            transition=self.transition,
            contracts=self.contracts,
            checkpoints=self.checkpoints,
            own_results=self.own_results,
        )

    def action_context(self, step: StartAction | AskProbe) -> ActionContext:
        """Return what a handler is told of the attempt, or a probe of the attempt that it asks about.

        It may do with the inputs as it likes: they share nothing with what the run goes on from.
        """
        claimed = self.claimed
        return ActionContext(
            execution_id=claimed.fence.execution_id,
            request_id=claimed.fence.request_id,
            owner=claimed.request.owner,
            scope=claimed.request.scope,
            actor=claimed.execution.actor.subject,
            inputs={name: copied(value) for name, value in step.inputs.items()},
            external_key=step.checkpoint.external_key,
            fencing_token=claimed.fence.token,
            attempt=step.checkpoint.attempts,
            contract=step.contract,
            correlation_id=claimed.execution.correlation_id,
        )


def checkpoint_write(
    identifiers: Identifiers, before: Checkpoint | None, after: Checkpoint
) -> CheckpointWrite:
    """Return the write that puts a checkpoint in the place of the one before it."""
    return CheckpointWrite(
        id=CheckpointId(identifiers.uuid()),
        after=after,
        before=None if before is None else (before.status, before.attempts),
    )


def run_fact(
    identifiers: Identifiers,
    claimed: ClaimedExecution,
    kind: AuditKind,
    detail: JsonObject,
    *,
    to_state: StateKey | None = None,
) -> AuditFact:
    """Return a fact about the execution, as the system's act."""
    return AuditFact(
        id=AuditEntryId(identifiers.uuid()),
        kind=kind,
        actor=SYSTEM_SUBJECT,
        flow_id=claimed.request.flow.id,
        execution_id=claimed.fence.execution_id,
        from_state=claimed.execution.from_state,
        to_state=to_state,
        detail=detail,
        salt=identifiers.salt(),
    )
