"""A question about an effect in doubt: whatever is said, it is in the history before the run goes on."""

from collections.abc import Awaitable, Callable
from typing import assert_never

from attrs import frozen

from orchestrator_domain.audit import AuditKind
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.execution.completion import RunFault
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.probe import (
    AskLater,
    CallHuman,
    EffectConfirmed,
    Inconclusive,
    ProbeResult,
    judge_probe,
    probe_detail,
)
from orchestrator_domain.execution.stepping import AskProbe
from orchestrator_domain.flow.definition import ActionDefinition
from orchestrator_domain.ports.action_handler import ActionContext
from orchestrator_domain.ports.execution_queue import CheckpointWrite, ExecutionQueue
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_domain.usecases.run_progress import RunEnded, RunProgress, checkpoint_write, run_fact

type Probe = Callable[[ActionDefinition, ActionContext], Awaitable[ProbeResult]]
"""Ask once, reading only, whether the effect under the context's key happened; answer whatever happens."""


async def no_probe(_definition: ActionDefinition, _context: ActionContext) -> ProbeResult:
    """Find nothing out: for a host whose contracts have no status queries."""
    return Inconclusive(error_code="INTEGRATION_UNAVAILABLE")


@frozen(kw_only=True)
class EffectQuestion:
    """Ask about effects in doubt, over the ports of a run."""

    queue: ExecutionQueue
    probe: Probe
    identifiers: Identifiers

    async def ask(self, progress: RunProgress, step: AskProbe) -> RunEnded | RunFault:
        """Store the doubt, ask, and store what was said; a fault calls for a human, and is the caller's to store.

        Raises what `ExecutionRunner.run` raises.
        """
        await self._doubt_stored(progress, step)
        result = await self.probe(step.definition, progress.action_context(step))
        verdict = judge_probe(step, result, fraction=self.identifiers.fraction())
        detail = probe_detail(step, verdict)
        code = step.doubted.error_code or "EFFECT_UNKNOWN"
        match verdict:
            case EffectConfirmed(checkpoint=confirmed):
                writes = [checkpoint_write(self.identifiers, step.doubted, confirmed)]
                # Due at once: the next claim goes on behind the action.
                return await self._asked(progress, writes, detail, delay_seconds=0.0, code="EFFECT_CONFIRMED")
            case AskLater(delay_seconds=seconds):
                return await self._asked(progress, [], detail, delay_seconds=seconds, code=code)
            case CallHuman():
                return RunFault(code=code, detail=detail)
        assert_never(verdict)

    async def _doubt_stored(self, progress: RunProgress, step: AskProbe) -> None:
        """Store that the action is in doubt before anybody is asked: from then on nothing starts it again."""
        if step.doubted != step.before:
            progress.checkpoints[step.doubted.action] = step.doubted
            progress.unsaved.append(checkpoint_write(self.identifiers, step.before, step.doubted))
        if progress.unsaved:
            await self.queue.checkpoint(progress.claimed.fence, progress.unsaved)
            progress.unsaved.clear()

    async def _asked(
        self,
        progress: RunProgress,
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
            fact=run_fact(self.identifiers, progress.claimed, AuditKind.EFFECT_PROBED, detail),
        )
        return RunEnded(status=ExecutionStatus.RETRY_WAIT, error_code=code)
