"""The durable queue: the execution table, under leases."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from time import monotonic
from typing import Self

from attrs import evolve

from orchestrator_domain.audit import SYSTEM_SUBJECT, AuditFact, AuditKind
from orchestrator_domain.errors import OrchestratorError
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.completion import Completion
from orchestrator_domain.execution.execution import ExecutionStatus, Fence
from orchestrator_domain.execution.poison import is_poison
from orchestrator_domain.identifiers import AuditEntryId, DocumentReferenceId, ExecutionId, LeaseOwner
from orchestrator_domain.ports.execution_queue import (
    CheckpointWrite,
    ClaimedExecution,
    ExecutionQueue,
    Renewed,
)
from orchestrator_domain.ports.identifiers import Identifiers
from orchestrator_postgres.bounded_retry import retried
from orchestrator_postgres.claim import Claims, UnreadableClaim, claim_due
from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.engine import ConnectionSettings
from orchestrator_postgres.fenced_write import Ending, FencedWrite, LinkedDocument, Transitioned
from orchestrator_postgres.kept_connections import KeptConnections
from orchestrator_postgres.lease_renewal import LeaseRenewal
from orchestrator_postgres.write_lane import WriteLane

UNREADABLE_CODE = "EXECUTION_UNREADABLE"
_PARKING_SECONDS = 1.0


def _ignored(_: ExecutionId) -> None:
    pass


class PostgresExecutionQueue(ExecutionQueue):
    """Hand out executions and take back what their runs found.

    Writes that are ready at one moment are carried out together, each under its own fence and with its own answer.
    Batches have `connections_max` connections that are kept open, and what they can't settle has as many of its own; claims
    and renewals have one each. An execution that can't be read is told to `unreadable` and left to its lease; the
    claim that makes it poison parks it as RECONCILIATION_REQUIRED. To be closed on the event loop that uses it.
    """

    def __init__(
        self,
        settings: ConnectionSettings,
        identifiers: Identifiers,
        *,
        connections_max: int = 2,
        closing_seconds: float = 5.0,
        unreadable: Callable[[ExecutionId], None] = _ignored,
    ) -> None:
        by_key = evolve(settings, looks_rows_up=True)
        by_trip = evolve(by_key, makes_whole_trips=True)
        self._claiming = KeptConnections(by_key, connections_max=1)
        self._connections = KeptConnections(by_trip, connections_max=connections_max)
        self._connections_alone = KeptConnections(by_key, connections_max=connections_max)
        self._lane = WriteLane(
            together=self._connections, alone=self._connections_alone, closing_seconds=closing_seconds
        )
        self._renewal = LeaseRenewal(settings)
        self._horizon = ClaimHorizon()
        self._identifiers = identifiers
        self._told_unreadable = unreadable

    @property
    def renewal(self) -> LeaseRenewal:
        """Return the renewal alone, for a thread that renews whatever the event loop does."""
        return self._renewal

    async def close(self) -> None:
        await asyncio.to_thread(self._renewal.close)
        await self._lane.close()
        for kept in (self._claiming, self._connections, self._connections_alone):
            await kept.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def claim(
        self, *, owner: LeaseOwner, limit: int, lease_seconds: float
    ) -> Sequence[ClaimedExecution]:
        async def attempt(_: int) -> Claims:
            async with self._claiming.lend() as connection:
                return await claim_due(
                    connection, self._horizon, owner=owner, limit=limit, lease_seconds=lease_seconds
                )

        # Later, what was left to its lease is due again, and there would be no end.
        give_up_at = monotonic() + lease_seconds / 2
        while True:
            claims = await retried(attempt)
            await self._refuse_unreadable(claims.unreadable)
            # Who is told that nothing is due waits for the next poll; what can be run mustn't do so behind each handful
            # of older rows that can't be read.
            if claims.executions or not claims.unreadable or monotonic() >= give_up_at:
                return claims.executions

    async def renew(self, *, fences: Collection[Fence], lease_seconds: float) -> Renewed:
        return await self._renewal.renew(fences=fences, lease_seconds=lease_seconds)

    async def checkpoint(self, fence: Fence, writes: Sequence[CheckpointWrite]) -> None:
        await self._lane.carry_out(FencedWrite(fence=fence, checkpoints=tuple(writes)))

    async def retry_later(
        self,
        fence: Fence,
        writes: Sequence[CheckpointWrite],
        *,
        delay_seconds: float,
        error_code: str,
        fact: AuditFact,
    ) -> None:
        ending = Ending(
            status=ExecutionStatus.RETRY_WAIT, fact=fact, error_code=error_code, delay_seconds=delay_seconds
        )
        await self._lane.carry_out(FencedWrite(fence=fence, checkpoints=tuple(writes), ending=ending))

    async def fail(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        ending = Ending(status=ExecutionStatus.FAILED, fact=fact, error_code=error_code)
        await self._lane.carry_out(FencedWrite(fence=fence, checkpoints=tuple(writes), ending=ending))

    async def require_reconciliation(
        self, fence: Fence, writes: Sequence[CheckpointWrite], *, error_code: str, fact: AuditFact
    ) -> None:
        ending = Ending(status=ExecutionStatus.RECONCILIATION_REQUIRED, fact=fact, error_code=error_code)
        await self._lane.carry_out(FencedWrite(fence=fence, checkpoints=tuple(writes), ending=ending))

    async def complete(
        self,
        fence: Fence,
        completion: Completion,
        *,
        writes: Sequence[CheckpointWrite],
        succeeded: Sequence[Checkpoint],
        fact: AuditFact,
    ) -> None:
        ending = Ending(
            status=ExecutionStatus.SUCCEEDED,
            fact=fact,
            result=completion.result,
            transitioned=Transitioned(
                state=completion.state,
                data=completion.data,
                documents=self._with_ids(completion),
                succeeded=tuple(succeeded),
            ),
        )
        await self._lane.carry_out(FencedWrite(fence=fence, checkpoints=tuple(writes), ending=ending))

    def _with_ids(self, completion: Completion) -> tuple[LinkedDocument, ...]:
        return tuple(
            LinkedDocument(id=DocumentReferenceId(self._identifiers.uuid()), link=link)
            for link in completion.documents
        )

    async def _refuse_unreadable(self, claims: Sequence[UnreadableClaim]) -> None:
        for claim in claims:
            self._told_unreadable(claim.fence.execution_id)
        poison = [claim for claim in claims if is_poison(claim.claims_without_progress)]
        # No longer, since nobody renews yet what was claimed with them; what is on its way by then comes to its end.
        with suppress(TimeoutError):
            async with asyncio.timeout(_PARKING_SECONDS):
                await asyncio.gather(*(self._park(claim) for claim in poison))

    async def _park(self, claim: UnreadableClaim) -> None:
        try:
            await self.require_reconciliation(
                claim.fence, (), error_code=UNREADABLE_CODE, fact=self._unreadable_fact(claim)
            )
        except OrchestratorError:
            # It stays under its lease and is found again: nothing here may stop those claimed with it.
            return

    def _unreadable_fact(self, claim: UnreadableClaim) -> AuditFact:
        return AuditFact(
            id=AuditEntryId(self._identifiers.uuid()),
            kind=AuditKind.RECONCILIATION_REQUIRED,
            actor=SYSTEM_SUBJECT,
            flow_id=claim.flow_id,
            execution_id=claim.fence.execution_id,
            from_state=claim.from_state,
            detail={"errorCode": UNREADABLE_CODE, "claims": claim.claims_without_progress},
            salt=self._identifiers.salt(),
        )
