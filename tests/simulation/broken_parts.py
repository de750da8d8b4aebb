"""Acceptances, runs and verdicts with one protection left out. Each is here to be caught."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import evolve, frozen
from tests.simulation.perilous_store import InterruptedRequestStore

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import StorageUnavailable
from orchestrator_domain.execution.attempt import ActionResult
from orchestrator_domain.execution.checkpoint import Checkpoint, CheckpointStatus
from orchestrator_domain.execution.execution import Execution
from orchestrator_domain.execution.probe import (
    EffectConfirmed,
    Inconclusive,
    NotFound,
    ProbeResult,
    ProbeVerdict,
    judge_probe,
)
from orchestrator_domain.execution.stepping import AskProbe, StartAction
from orchestrator_domain.execution.verdict import judge
from orchestrator_domain.flow.contract import ActionContract, Effect
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.identifiers import ActionKey, IdempotencyKey, RequestId
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.request_store import VisibleRequest
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.usecases.run_execution import Attempt, ExecutionRunner
from orchestrator_domain.usecases.run_progress import RunEnded, checkpoint_write


class ActiveExecutionIgnored(InterruptedRequestStore):
    async def lock_visible(self, request_id: RequestId, actor: Actor) -> VisibleRequest | None:
        found = await super().lock_visible(request_id, actor)
        return None if found is None else evolve(found, active_execution=None)

    def _require_free(self, execution: Execution) -> None:
        """Take any execution, as a table without its partial unique index would."""


class KeyForgotten(InterruptedRequestStore):
    async def execution_by_key(
        self,
        request_id: RequestId,  # noqa: ARG002 - this one has forgotten both
        key: IdempotencyKey,  # noqa: ARG002
    ) -> Execution | None:
        return None

    def _require_free(self, execution: Execution) -> None:
        """Take any execution, as a table without its unique key would."""


@frozen
class UnansweredCommitTakenForDone(UnitOfWork):
    stories: UnitOfWork

    async def run[Result](self, story: Callable[[Transaction], Awaitable[Result]]) -> Result:
        told: list[Result] = []

        async def overheard(work: Transaction) -> Result:
            told.append(await story(work))
            return told[-1]

        try:
            return await self.stories.run(overheard)
        except StorageUnavailable:
            if not told:
                raise
            return told[-1]


class StartStoredAfterTheCall(ExecutionRunner):
    async def _attempted(self, progress: Any, step: StartAction) -> RunEnded | None:
        result = await self.attempt(step.definition, progress.action_context(step))
        started = checkpoint_write(self.identifiers, step.before, step.start)
        await self.queue.checkpoint(progress.claimed.fence, [*progress.unsaved, started])
        progress.unsaved.clear()
        progress.checkpoints[step.start.action] = step.start
        return await self._judged(progress, step, judge(step, result, fraction=0.5))


class UnstoredStartIsCalled(ExecutionRunner):
    """Go on with the call although the store didn't confirm its start."""

    async def _attempted(self, progress: Any, step: StartAction) -> RunEnded | None:
        try:
            await self.queue.checkpoint(
                progress.claimed.fence, [checkpoint_write(self.identifiers, step.before, step.start)]
            )
        except StorageUnavailable:
            progress.unsaved.clear()
        progress.checkpoints[step.start.action] = step.start
        result = await self.attempt(step.definition, progress.action_context(step))
        return await self._judged(progress, step, judge(step, result, fraction=0.5))


def key_changes_with_each_attempt(attempt: Attempt) -> Attempt:
    async def attempted(definition: ActionDefinition, context: ActionContext) -> ActionResult:
        return await attempt(
            definition, evolve(context, external_key=f"{context.external_key}:{context.attempt}")
        )

    return attempted


def every_write_counts_as_idempotent(checkpoint: Checkpoint, _: ActionContract) -> Effect:
    return Effect.READ_ONLY if checkpoint.effect is Effect.READ_ONLY else Effect.IDEMPOTENT_WRITE


def not_found_is_believed(step: AskProbe, result: ProbeResult, *, fraction: float) -> ProbeVerdict:
    """Let an action run again that the provider doesn't know of."""
    if not isinstance(result, NotFound):
        return judge_probe(step, result, fraction=fraction)
    afresh = evolve(step.doubted, status=CheckpointStatus.PENDING, attempts=0, uncertain=False)
    return EffectConfirmed(checkpoint=afresh)


def silence_is_believed(step: AskProbe, result: ProbeResult, *, fraction: float) -> ProbeVerdict:
    """Take a question that got no answer for a payment that was made."""
    if not isinstance(result, Inconclusive):
        return judge_probe(step, result, fraction=fraction)
    return EffectConfirmed(checkpoint=step.doubted.succeeded({"value": 1}, None))


def keys_are_remembered_for_ever(checkpoint: Checkpoint, _: ActionContract) -> Effect:
    return checkpoint.effect


def nothing_was_written(_: Mapping[ActionKey, Checkpoint]) -> bool:
    return False


def failed_whatever_came_before(checkpoint: Checkpoint, error_code: str | None = None) -> Checkpoint:
    return evolve(checkpoint, status=CheckpointStatus.FAILED, uncertain=False, error_code=error_code)


def interrupted_without_a_doubt(checkpoint: Checkpoint) -> Checkpoint:
    return evolve(checkpoint, status=CheckpointStatus.PENDING)
