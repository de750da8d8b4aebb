"""Operators who settle what has stopped: they say only what is true, and repeat what they heard no answer to."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define, evolve, field, frozen
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
    """Who is at which case. Those who name the stop may meet at one; who doesn't has it alone, or would answer another."""

    _alone: set[ExecutionId] = field(factory=set)
    _together: Counter[ExecutionId] = field(factory=Counter)

    def is_free(self, execution_id: ExecutionId, *, names_stop: bool) -> bool:
        return execution_id not in self._alone and (names_stop or not self._together[execution_id])

    @contextmanager
    def taken(self, execution_id: ExecutionId, *, names_stop: bool) -> Iterator[None]:
        if names_stop:
            self._together[execution_id] += 1
        else:
            self._alone.add(execution_id)
        try:
            yield
        finally:
            self._together[execution_id] -= names_stop
            self._alone.discard(execution_id)


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
    _late: list[ResolveCommand] = field(factory=list)

    async def resolve_for_ever(self) -> None:
        commands = 0
        while True:
            await pause(_LOOKS)
            for command in self._late_for_another_stop():
                self._late.remove(command)
                await self._send_until_answered(command)
            names_stop = self.chances.happens(0.7)
            for execution_id in self._worth_a_look(names_stop=names_stop):
                commands += 1
                key = IdempotencyKey(f"operator-{self.number}-{commands}")
                with self.desk.taken(execution_id, names_stop=names_stop):
                    await self._settle(execution_id, key, names_stop=names_stop)

    def _late_for_another_stop(self) -> Sequence[ResolveCommand]:
        """Choose what was verified of a stop that is over, of an execution that has stopped anew."""
        return [
            command
            for command in self._late
            if (execution := self.witness.rows.executions[command.execution_id].execution).status
            is ExecutionStatus.RECONCILIATION_REQUIRED
            and execution.fencing_token != command.stop
        ][:1]

    def _worth_a_look(self, *, names_stop: bool) -> Sequence[ExecutionId]:
        """Choose one that has stopped; in haste, one that hasn't."""
        hasty = self.chances.fault(0.2)
        found = [
            key
            for key, row in self.witness.rows.executions.items()
            if self.desk.is_free(key, names_stop=names_stop)
            and row.execution.status.active
            and (hasty or row.execution.status is ExecutionStatus.RECONCILIATION_REQUIRED)
        ]
        return [self.chances.one_of(found)] if found else ()

    async def _settle(self, execution_id: ExecutionId, key: IdempotencyKey, *, names_stop: bool) -> None:
        try:
            shown = await self.stopped.find(execution_id, self._actor())
            command = self._command(execution_id, shown.stop, key)
            if names_stop and shown.stop.token is not None:
                command = evolve(command, stop=shown.stop.token)
                self._late.append(_of_a_colleague(command))
            await self._send_until_answered(command)
        except (StorageUnavailable, ProcessEnded):
            return

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
        return admitted[0] if len(admitted) == 1 or self.chances.happens(0.85) else admitted[1]

    def _command(self, execution_id: ExecutionId, stop: Stop, key: IdempotencyKey) -> ResolveCommand:
        return ResolveCommand(
            execution_id=execution_id,
            action=stop.action,
            way=self._true_way(execution_id, stop),
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
            self.witness.resolutions.acknowledge(resolved.resolution, command.stop)
            if self.chances.happens(0.8):
                return

    def _actor(self) -> Actor:
        return Actor(
            subject=Subject(f"operator-{self.number}"),
            roles=frozenset({Role("EXECUTION_OPERATOR")}),
            scopes=frozenset({BusinessScope("NORTH")}),
        )


def _of_a_colleague(command: ResolveCommand) -> ResolveCommand:
    """Return what somebody else has verified of the same stop, who takes longer over it."""
    evidence = evolve(command.evidence, text=f"Verified beside {command.key}.")
    return evolve(command, key=IdempotencyKey(f"{command.key}-late"), evidence=evidence)
