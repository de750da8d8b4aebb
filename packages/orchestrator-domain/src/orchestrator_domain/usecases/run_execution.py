"""Carry out one claimed execution: step, store, call, judge, until it has an end or the lease is lost.

Nothing here decides by itself: `stepping` says what is next, `verdict` what an answer means, `completion` what the
transition becomes. This is only the order in which things are stored and called.
"""

from collections.abc import Awaitable, Callable
from typing import assert_never

from attrs import frozen

from orchestrator_domain.audit import AuditKind
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
from orchestrator_domain.execution.stepping import (
    AskProbe,
    FinishTransition,
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
from orchestrator_domain.identifiers import ActionKey
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.decision_evaluator import DecisionEvaluator
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ClaimedExecution, ExecutionQueue
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.ports.integration_catalogue import IntegrationCatalogue
from orchestrator_domain.ports.observer import Observer
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.usecases.flow_library import FlowLibrary
from orchestrator_domain.usecases.run_probe import EffectQuestion, Probe, no_probe
from orchestrator_domain.usecases.run_progress import RunEnded, RunProgress, checkpoint_write, run_fact

UNREADABLE_RETRY_SECONDS = 30.0

type Attempt = Callable[[ActionDefinition, ActionContext], Awaitable[ActionResult]]
"""Make one attempt within its budget and answer with what happened, whatever happens."""

type Hold = Callable[[ActionDefinition, ActionContext], Parked | None]
"""Say at once, and without calling anything, whether an attempt isn't worth starting now."""


def never_held(_definition: ActionDefinition, _context: ActionContext) -> Parked | None:
    """Hold nothing back: for a host whose handlers say so themselves, after the start is stored."""
    return None


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

    def _progress(self, claimed: ClaimedExecution, flow: ReadyFlow) -> RunProgress:
        transition = flow.definition.transition(claimed.execution.transition)
        assert transition is not None, "acceptance took the transition from this very version"
        return RunProgress(
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

    async def _stepped(self, progress: RunProgress) -> RunEnded:
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

    async def _attempted(self, progress: RunProgress, step: StartAction) -> RunEnded | None:
        """Store the start, make the attempt, judge it; None means that the run goes on.

        What isn't worth an attempt is parked before its start is stored: a start whose run dies is an effect in doubt.
        """
        context = progress.action_context(step)
        held = self.held(step.definition, context)
        if held is not None:
            verdict = judge(step, held, fraction=self.identifiers.fraction())
            return await self._settled(progress, step, verdict, before=step.before)
        started = checkpoint_write(self.identifiers, step.before, step.start)
        await self.queue.checkpoint(progress.claimed.fence, [*progress.unsaved, started])
        progress.unsaved.clear()
        progress.checkpoints[step.start.action] = step.start
        result = await self.attempt(step.definition, context)
        verdict = judge(step, result, fraction=self.identifiers.fraction())
        return await self._judged(progress, step, verdict)

    async def _judged(self, progress: RunProgress, step: StartAction, verdict: Verdict) -> RunEnded | None:
        return await self._settled(progress, step, verdict, before=step.start)

    async def _settled(
        self, progress: RunProgress, step: StartAction, verdict: Verdict, *, before: Checkpoint | None
    ) -> RunEnded | None:
        write = checkpoint_write(self.identifiers, before, verdict.checkpoint)
        progress.checkpoints[step.start.action] = verdict.checkpoint
        progress.unsaved.append(write)
        match verdict:
            case GoOn(checkpoint=succeeded):
                assert succeeded.result is not None, "a SUCCEEDED checkpoint holds its result"
                progress.own_results[succeeded.action] = succeeded.result
                return None
            case InDoubt():
                return None
            case RetryLater():
                return await self._parked(progress, step, verdict)
            case GiveUp(error_code=code):
                fault = RunFault(code=code, detail={"action": step.definition.id, **verdict.detail})
                return await self._given_up(progress, fault)
        assert_never(verdict)

    async def _parked(self, progress: RunProgress, step: StartAction, verdict: RetryLater) -> RunEnded:
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
            fact=run_fact(self.identifiers, progress.claimed, AuditKind.ACTION_RETRY_SCHEDULED, detail),
        )
        return RunEnded(status=ExecutionStatus.RETRY_WAIT, error_code=verdict.error_code)

    async def _probed(self, progress: RunProgress, step: AskProbe) -> RunEnded:
        question = EffectQuestion(queue=self.queue, probe=self.probe, identifiers=self.identifiers)
        asked = await question.ask(progress, step)
        return await self._given_up(progress, asked) if isinstance(asked, RunFault) else asked

    async def _finished(self, progress: RunProgress, step: FinishTransition) -> RunEnded:
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
            fact=run_fact(
                self.identifiers,
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

    async def _stopped(self, progress: RunProgress, step: StopRun) -> RunEnded:
        if step.unsettled is not None:
            progress.checkpoints[step.unsettled.action] = step.unsettled
            progress.unsaved.append(checkpoint_write(self.identifiers, step.before, step.unsettled))
        return await self._given_up(progress, step.fault)

    async def _given_up(self, progress: RunProgress, fault: RunFault) -> RunEnded:
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
            fact = run_fact(self.identifiers, claimed, AuditKind.RECONCILIATION_REQUIRED, detail)
            blocking = self.queue.require_reconciliation(
                claimed.fence, writes, error_code=fault.code, fact=fact
            )
            await self._ended_or_kept(blocking, claimed, writes)
            return RunEnded(status=ExecutionStatus.RECONCILIATION_REQUIRED, error_code=fault.code)
        fact = run_fact(self.identifiers, claimed, AuditKind.EXECUTION_FAILED, detail)
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
            fact=run_fact(
                self.identifiers, claimed, AuditKind.ACTION_RETRY_SCHEDULED, {"errorCode": fault.code}
            ),
        )
        return RunEnded(status=ExecutionStatus.RETRY_WAIT, error_code=fault.code)


def _moved(claimed: ClaimedExecution) -> bool:
    return (
        claimed.request.state != claimed.execution.from_state
        or claimed.request.revision != claimed.execution.accepted_revision
    )
