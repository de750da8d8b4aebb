"""Carry out one claimed execution: step, store, call, judge, until it has an end or the lease is lost.

Nothing here decides by itself: `stepping` says what is next, `verdict` what an answer means, `completion` what the
transition becomes. This is only the order in which things are stored and called.
"""

from collections.abc import Awaitable, Callable
from typing import assert_never

from attrs import define, field, frozen

from orchestrator_domain.audit import SYSTEM_SUBJECT, AuditFact, AuditKind
from orchestrator_domain.errors import (
    CheckpointMoved,
    FlowUnreadable,
    LeaseLost,
    OrchestratorError,
    RequestMoved,
    StorageUnavailable,
)
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.attempt import ActionResult, Parked
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import RunFault, finished_transition
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.poison import is_poison
from orchestrator_domain.execution.probe import (
    AskLater,
    CallHuman,
    EffectConfirmed,
    Inconclusive,
    ProbeResult,
    judge_probe,
    probe_detail,
)
from orchestrator_domain.execution.stepping import (
    AskProbe,
    FinishTransition,
    Run,
    StartAction,
    StopRun,
    may_have_written,
    next_step,
)
from orchestrator_domain.execution.verdict import GiveUp, GoOn, InDoubt, RetryLater, Verdict, judge
from orchestrator_domain.flow.contract import ActionContract
from orchestrator_domain.flow.definition import ActionDefinition, Transition
from orchestrator_domain.flow.limits import FlowLimits
from orchestrator_domain.flow.ready import ReadyFlow
from orchestrator_domain.identifiers import ActionKey, AuditEntryId, CheckpointId, StateKey
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.decision_evaluator import DecisionEvaluator
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution, ExecutionQueue
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.ports.observer import Observer
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.usecases.flow_library import FlowLibrary

UNREADABLE_RETRY_SECONDS = 30.0

type Attempt = Callable[[ActionDefinition, ActionContext], Awaitable[ActionResult]]
"""Make one attempt within its budget and answer with what happened, whatever happens."""

type Hold = Callable[[ActionDefinition, ActionContext], Parked | None]
"""Say at once, and without calling anything, whether an attempt isn't worth starting now."""

type Probe = Callable[[ActionDefinition, ActionContext], Awaitable[ProbeResult]]
"""Ask once, reading only, whether the effect under the context's key happened; answer whatever happens."""


def never_held(_definition: ActionDefinition, _context: ActionContext) -> Parked | None:
    """Hold nothing back: for a host whose handlers say so themselves, after the start is stored."""
    return None


async def no_probe(_definition: ActionDefinition, _context: ActionContext) -> ProbeResult:
    """Find nothing out: for a host whose contracts have no status queries."""
    return Inconclusive(error_code="INTEGRATION_UNAVAILABLE")


@frozen(kw_only=True)
class RunEnded:
    """How the run left the execution, for whoever measures it."""

    status: ExecutionStatus
    error_code: str | None = None


@define(kw_only=True)
class _Progress:
    """What one run knows: the checkpoints as stored, and the success that waits for the next commit."""

    claimed: ClaimedExecution
    flow: ReadyFlow
    transition: Transition
    contracts: dict[ActionKey, ActionContract]
    checkpoints: dict[ActionKey, Checkpoint]
    unsaved: list[CheckpointWrite] = field(factory=list)

    def as_run(self) -> Run:
        return Run(
            execution=self.claimed.execution,
            request_data=self.claimed.request.data,
            transition=self.transition,
            contracts=self.contracts,
            checkpoints=self.checkpoints,
        )


@frozen(kw_only=True)
class ExecutionRunner:
    """Run claimed executions over the ports."""

    queue: ExecutionQueue
    flows: FlowLibrary
    published_flows: PublishedFlows
    catalogue: IntegrationCatalogue
    attempt: Attempt
    held: Hold = never_held
    probe: Probe = no_probe
    evaluator: DecisionEvaluator
    identifiers: Identifiers
    observer: Observer
    limits: FlowLimits

    async def run(self, claimed: ClaimedExecution) -> RunEnded:
        """Carry the execution to its end, to a wait, or to a stop.

        Raises LeaseLost or CheckpointMoved when another worker may have it, and StorageUnavailable when the store
        doesn't answer; nothing more was written then, and the lease's end brings the execution back.
        """
        ended = await self._ended(claimed)
        self.observer.execution_ended(
            execution_id=claimed.fence.execution_id, status=ended.status, error_code=ended.error_code
        )
        return ended

    async def _ended(self, claimed: ClaimedExecution) -> RunEnded:
        if is_poison(claimed.claims_without_progress):
            return await self._give_up(claimed, RunFault(code="CLAIMS_EXHAUSTED"))
        try:
            flow = await self.flows.ready(claimed.request.flow, self.published_flows)
        except (FlowUnreadable, StorageUnavailable) as fault:
            return await self._unreadable(claimed, fault)
        if _moved(claimed):
            return await self._give_up(claimed, RunFault(code="REQUEST_MOVED"))
        progress = self._progress(claimed, flow)
        try:
            return await self._stepped(progress)
        except RequestMoved:
            return await self._given_up(progress, RunFault(code="REQUEST_MOVED"))

    def _progress(self, claimed: ClaimedExecution, flow: ReadyFlow) -> _Progress:
        transition = flow.definition.transition(claimed.execution.transition)
        assert transition is not None, "acceptance took the transition from this very version"
        return _Progress(
            claimed=claimed,
            flow=flow,
            transition=transition,
            contracts=self._contracts(flow, transition),
            checkpoints={checkpoint.action: checkpoint for checkpoint in claimed.checkpoints},
        )

    def _contracts(self, flow: ReadyFlow, transition: Transition) -> dict[ActionKey, ActionContract]:
        pins = {action.id: flow.contracts.get((transition.id, action.id)) for action in transition.actions}
        found = {action: self.catalogue.pinned(pin) for action, pin in pins.items() if pin is not None}
        return {action: contract for action, contract in found.items() if contract is not None}

    async def _stepped(self, progress: _Progress) -> RunEnded:
        while True:
            step = next_step(progress.as_run())
            match step:
                case StartAction():
                    ended = await self._attempted(progress, step)
                    if ended is not None:
                        return ended
                case AskProbe():
                    return await self._probed(progress, step)
                case FinishTransition():
                    return await self._finished(progress, step)
                case StopRun():
                    return await self._stopped(progress, step)

    async def _attempted(self, progress: _Progress, step: StartAction) -> RunEnded | None:
        """Store the start, make the attempt, judge it; None means that the run goes on.

        What isn't worth an attempt is parked before its start is stored: a start whose run dies is an effect in doubt.
        """
        context = self._action_context(progress, step)
        held = self.held(step.definition, context)
        if held is not None:
            verdict = judge(step, held, fraction=self.identifiers.fraction())
            return await self._settled(progress, step, verdict, before=step.before)
        started = self._write(step.before, step.start)
        await self.queue.checkpoint(progress.claimed.fence, [*progress.unsaved, started])
        progress.unsaved.clear()
        progress.checkpoints[step.start.action] = step.start
        result = await self.attempt(step.definition, context)
        verdict = judge(step, result, fraction=self.identifiers.fraction())
        return await self._judged(progress, step, verdict)

    async def _judged(self, progress: _Progress, step: StartAction, verdict: Verdict) -> RunEnded | None:
        return await self._settled(progress, step, verdict, before=step.start)

    async def _settled(
        self, progress: _Progress, step: StartAction, verdict: Verdict, *, before: Checkpoint | None
    ) -> RunEnded | None:
        write = self._write(before, verdict.checkpoint)
        progress.checkpoints[step.start.action] = verdict.checkpoint
        progress.unsaved.append(write)
        match verdict:
            case GoOn() | InDoubt():
                return None
            case RetryLater():
                return await self._parked(progress, step, verdict)
            case GiveUp(error_code=code):
                fault = RunFault(code=code, detail={"action": step.definition.id, **verdict.detail})
                return await self._given_up(progress, fault)
        assert_never(verdict)

    async def _parked(self, progress: _Progress, step: StartAction, verdict: RetryLater) -> RunEnded:
        detail: JsonObject = {
            "action": step.definition.id,
            "attempt": verdict.checkpoint.attempts,
            "errorCode": verdict.error_code,
        }
        await self.queue.retry_later(
            progress.claimed.fence,
            progress.unsaved,
            delay_seconds=verdict.delay_seconds,
            error_code=verdict.error_code,
            fact=self._fact(progress.claimed, AuditKind.ACTION_RETRY_SCHEDULED, detail),
        )
        return RunEnded(status=ExecutionStatus.RETRY_WAIT, error_code=verdict.error_code)

    async def _probed(self, progress: _Progress, step: AskProbe) -> RunEnded:
        """Store the doubt, ask, and store what was said: whatever it was, it is in the history before the run goes on."""
        await self._doubt_stored(progress, step)
        context = self._action_context(progress, step)
        result = await self.probe(step.definition, context)
        verdict = judge_probe(step, result, fraction=self.identifiers.fraction())
        detail = probe_detail(step, verdict)
        code = step.doubted.error_code or "EFFECT_UNKNOWN"
        match verdict:
            case EffectConfirmed(checkpoint=confirmed):
                writes = [self._write(step.doubted, confirmed)]
                # Due at once: the next claim goes on behind the action.
                return await self._asked(progress, writes, detail, delay_seconds=0.0, code="EFFECT_CONFIRMED")
            case AskLater(delay_seconds=seconds):
                return await self._asked(progress, [], detail, delay_seconds=seconds, code=code)
            case CallHuman():
                return await self._given_up(progress, RunFault(code=code, detail=detail))
        assert_never(verdict)

    async def _doubt_stored(self, progress: _Progress, step: AskProbe) -> None:
        """Store that the action is in doubt before anybody is asked: from then on nothing starts it again."""
        if step.doubted != step.before:
            progress.checkpoints[step.doubted.action] = step.doubted
            progress.unsaved.append(self._write(step.before, step.doubted))
        if progress.unsaved:
            await self.queue.checkpoint(progress.claimed.fence, progress.unsaved)
            progress.unsaved.clear()

    async def _asked(
        self,
        progress: _Progress,
        writes: list[CheckpointWrite],
        detail: JsonObject,
        *,
        delay_seconds: float,
        code: str,
    ) -> RunEnded:
        await self.queue.retry_later(
            progress.claimed.fence,
            writes,
            delay_seconds=delay_seconds,
            error_code=code,
            fact=self._fact(progress.claimed, AuditKind.EFFECT_PROBED, detail),
        )
        return RunEnded(status=ExecutionStatus.RETRY_WAIT, error_code=code)

    async def _finished(self, progress: _Progress, step: FinishTransition) -> RunEnded:
        finished = finished_transition(
            flow=progress.flow,
            transition=progress.transition,
            context=step.context,
            results=step.results,
            contracts=progress.contracts,
            evaluate=self.evaluator.evaluate,
            limits=self.limits,
        )
        if isinstance(finished, RunFault):
            return await self._given_up(progress, finished)
        completing = self.queue.complete(
            progress.claimed.fence,
            finished.completion,
            writes=progress.unsaved,
            succeeded=list(progress.checkpoints.values()),
            fact=self._fact(
                progress.claimed,
                AuditKind.TRANSITION_COMPLETED,
                finished.detail,
                to_state=finished.completion.state,
            ),
        )
        await self._ended_or_kept(completing, progress.claimed, progress.unsaved)
        return RunEnded(status=ExecutionStatus.SUCCEEDED)

    async def _ended_or_kept(
        self, ending: Awaitable[None], claimed: ClaimedExecution, writes: list[CheckpointWrite]
    ) -> None:
        """Await an end; if it fails, store its checkpoints alone, so that what is known of an action stays known (A19)."""
        try:
            await ending
        except (LeaseLost, CheckpointMoved, RequestMoved):
            raise
        except Exception:
            if writes:
                await self._kept(claimed, writes)
            raise

    async def _kept(self, claimed: ClaimedExecution, writes: list[CheckpointWrite]) -> None:
        try:
            await self.queue.checkpoint(claimed.fence, writes)
        except RequestMoved:
            # Then only its end may be written, and the next run finds the move before anything else.
            return

    async def _stopped(self, progress: _Progress, step: StopRun) -> RunEnded:
        if step.unsettled is not None:
            progress.checkpoints[step.unsettled.action] = step.unsettled
            progress.unsaved.append(self._write(step.before, step.unsettled))
        return await self._given_up(progress, step.fault)

    async def _given_up(self, progress: _Progress, fault: RunFault) -> RunEnded:
        return await self._end(
            progress.claimed, fault, progress.unsaved, blocks=may_have_written(progress.checkpoints)
        )

    async def _give_up(self, claimed: ClaimedExecution, fault: RunFault) -> RunEnded:
        checkpoints = {checkpoint.action: checkpoint for checkpoint in claimed.checkpoints}
        return await self._end(claimed, fault, [], blocks=may_have_written(checkpoints))

    async def _end(
        self, claimed: ClaimedExecution, fault: RunFault, writes: list[CheckpointWrite], *, blocks: bool
    ) -> RunEnded:
        """End in FAILED, or in RECONCILIATION_REQUIRED when something was or may have been written."""
        detail: JsonObject = {"errorCode": fault.code, **fault.detail}
        if blocks or fault.code == "CHECKPOINT_MISMATCH":
            fact = self._fact(claimed, AuditKind.RECONCILIATION_REQUIRED, detail)
            blocking = self.queue.require_reconciliation(
                claimed.fence, writes, error_code=fault.code, fact=fact
            )
            await self._ended_or_kept(blocking, claimed, writes)
            return RunEnded(status=ExecutionStatus.RECONCILIATION_REQUIRED, error_code=fault.code)
        fact = self._fact(claimed, AuditKind.EXECUTION_FAILED, detail)
        failing = self.queue.fail(claimed.fence, writes, error_code=fault.code, fact=fact)
        await self._ended_or_kept(failing, claimed, writes)
        return RunEnded(status=ExecutionStatus.FAILED, error_code=fault.code)

    async def _unreadable(self, claimed: ClaimedExecution, fault: OrchestratorError) -> RunEnded:
        """Park an execution whose definition can't be read: a later release may; the poison limit bounds it."""
        await self.queue.retry_later(
            claimed.fence,
            [],
            delay_seconds=UNREADABLE_RETRY_SECONDS,
            error_code=fault.code,
            fact=self._fact(claimed, AuditKind.ACTION_RETRY_SCHEDULED, {"errorCode": fault.code}),
        )
        return RunEnded(status=ExecutionStatus.RETRY_WAIT, error_code=fault.code)

    def _action_context(self, progress: _Progress, step: StartAction | AskProbe) -> ActionContext:
        claimed = progress.claimed
        return ActionContext(
            execution_id=claimed.fence.execution_id,
            request_id=claimed.fence.request_id,
            owner=claimed.request.owner,
            scope=claimed.request.scope,
            actor=claimed.execution.actor.subject,
            inputs=step.inputs,
            external_key=step.checkpoint.external_key,
            fencing_token=claimed.fence.token,
            attempt=step.checkpoint.attempts,
            contract=step.contract,
            correlation_id=claimed.execution.correlation_id,
        )

    def _write(self, before: Checkpoint | None, after: Checkpoint) -> CheckpointWrite:
        return CheckpointWrite(
            id=CheckpointId(self.identifiers.uuid()),
            after=after,
            before=None if before is None else (before.status, before.attempts),
        )

    def _fact(
        self,
        claimed: ClaimedExecution,
        kind: AuditKind,
        detail: JsonObject,
        *,
        to_state: StateKey | None = None,
    ) -> AuditFact:
        return AuditFact(
            id=AuditEntryId(self.identifiers.uuid()),
            kind=kind,
            actor=SYSTEM_SUBJECT,
            flow_id=claimed.request.flow.id,
            execution_id=claimed.fence.execution_id,
            from_state=claimed.execution.from_state,
            to_state=to_state,
            detail=detail,
            salt=self.identifiers.salt(),
        )


def _moved(claimed: ClaimedExecution) -> bool:
    return (
        claimed.request.state != claimed.execution.from_state
        or claimed.request.revision != claimed.execution.accepted_revision
    )
