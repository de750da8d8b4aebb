"""Operators who settle what has stopped: they say only what is true, and repeat what they heard no answer to."""

from collections.abc import Callable, Sequence

from attrs import define, field, frozen
from tests.simulation.chances import Chances
from tests.simulation.promises import require
from tests.simulation.stepping import Pause, ProcessEnded, pause
from tests.simulation.witness import Witness

from orchestrator_domain.actor import Actor
from orchestrator_domain.errors import ExecutionNotResolvable, StorageUnavailable
from orchestrator_domain.execution.execution import ExecutionStatus
from orchestrator_domain.execution.reconciliation import (
    CloseWithoutTransition,
    Evidence,
    ResolutionKind,
    ResolveCommand,
    ResumeEffectAbsent,
    ResumeWithResult,
    Stop,
    Way,
    resolution_hash,
    resolution_kind,
)
from orchestrator_domain.identifiers import (
    ActionKey,
    BusinessScope,
    ExecutionId,
    IdempotencyKey,
    Role,
    Subject,
)
from orchestrator_domain.usecases.resolve_execution import ResolveExecution
from orchestrator_domain.usecases.stopped_executions import StoppedExecutions

_REPEATS_MAX = 12
_LOOKS = Pause("before an operator looks", idle=True, in_process=False)


@define
class Desk:
    """Which cases are taken, so that no two operators verify one stop and answer another."""

    taken: set[ExecutionId] = field(factory=set)


@frozen(kw_only=True)
class SimulatedOperator:
    """Resolve stopped executions by what the providers' books say, and now and then close what hasn't stopped."""

    number: int
    stopped: StoppedExecutions
    resolve: ResolveExecution
    nothing_will_happen: Callable[[ExecutionId], bool]
    witness: Witness
    chances: Chances
    desk: Desk

    async def resolve_for_ever(self) -> None:
        commands = 0
        while True:
            await pause(_LOOKS)
            for execution_id in self._worth_a_look():
                commands += 1
                key = IdempotencyKey(f"operator-{self.number}-{commands}")
                await self._settle(execution_id, key)

    def _worth_a_look(self) -> Sequence[ExecutionId]:
        """Choose one that has stopped; in haste, one that hasn't."""
        hasty = self.chances.fault(0.2)
        found = [
            key
            for key, row in self.witness.rows.executions.items()
            if key not in self.desk.taken
            and row.execution.status.active
            and (hasty or row.execution.status is ExecutionStatus.RECONCILIATION_REQUIRED)
        ]
        return [self.chances.one_of(found)] if found else ()

    async def _settle(self, execution_id: ExecutionId, key: IdempotencyKey) -> None:
        self.desk.taken.add(execution_id)
        try:
            shown = await self.stopped.find(execution_id, self._actor())
            way = self._true_way(execution_id, shown.stop)
            await self._send_until_answered(self._command(execution_id, shown.stop.action, way, key))
        except (StorageUnavailable, ProcessEnded):
            return
        finally:
            self.desk.taken.discard(execution_id)

    def _true_way(self, execution_id: ExecutionId, stop: Stop) -> Way:
        """Return something that is true. Who closes compensates whatever was written, so that it always is."""
        if not stop.admits:
            return CloseWithoutTransition()
        true: list[Way] = [CloseWithoutTransition()]
        if stop.action is not None and ResolutionKind.RESUME_EFFECT_ABSENT in stop.admits:
            if self.witness.effects[execution_id, stop.action]:
                true = [ResumeWithResult(result={"value": 1}), *true]
            elif self.nothing_will_happen(execution_id):
                true = [ResumeEffectAbsent(), *true]
        admitted = [way for way in true if resolution_kind(way) in stop.admits]
        return admitted[0] if len(admitted) == 1 or self.chances.happens(0.7) else admitted[1]

    def _command(
        self, execution_id: ExecutionId, action: ActionKey | None, way: Way, key: IdempotencyKey
    ) -> ResolveCommand:
        return ResolveCommand(
            execution_id=execution_id,
            action=action,
            way=way,
            evidence=Evidence(text=f"Verified for {key}.", reference=str(key)),
            key=key,
        )

    async def _send_until_answered(self, command: ResolveCommand) -> None:
        for _ in range(_REPEATS_MAX):
            try:
                resolved = await self.resolve(command, self._actor())
            except (StorageUnavailable, ProcessEnded):
                continue
            except ExecutionNotResolvable:
                made = resolution_hash(command) in self.witness.resolutions.made
                require(not made, "A resolution that was made was refused when it was repeated.")
                return
            self.witness.resolutions.acknowledge(resolved.resolution)
            if self.chances.happens(0.8):
                return

    def _actor(self) -> Actor:
        return Actor(
            subject=Subject(f"operator-{self.number}"),
            roles=frozenset({Role("EXECUTION_OPERATOR")}),
            scopes=frozenset({BusinessScope("NORTH")}),
        )
