"""One claim: mark what is due, then read what its runs need, in one transaction."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from attrs import frozen

from orchestrator_domain.execution.execution import Fence
from orchestrator_domain.identifiers import FencingToken, FlowId, LeaseOwner, StateKey
from orchestrator_domain.ports.execution_queue import ClaimedExecution
from orchestrator_postgres.claim_horizon import ClaimHorizon
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.row_mapping import (
    Row,
    UnreadableRow,
    checkpoint_of,
    execution_of,
    request_of,
)
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import ids_parameter

_MARK = sql_file("claim_mark")
_READ = sql_file("claim_read")
_READ_CHECKPOINTS = sql_file("read_checkpoints")
_FIRST_TOKEN = 1


@frozen(kw_only=True)
class UnreadableClaim:
    """A claimed execution whose rows this version of the code can't read."""

    fence: Fence
    flow_id: FlowId
    from_state: StateKey
    claims_without_progress: int


@frozen(kw_only=True)
class Claims:
    """What one claim took: executions to run, and those that can't be read."""

    executions: Sequence[ClaimedExecution]
    unreadable: Sequence[UnreadableClaim]


async def claim_due(
    connection: StoreConnection,
    horizon: ClaimHorizon,
    *,
    owner: LeaseOwner,
    limit: int,
    lease_seconds: float,
) -> Claims:
    """Claim at most `limit` due executions, committed on return.

    The statements of one pipeline are one transaction, ended by its end, so that a poll that finds nothing is one
    statement and no more.
    """
    values = {"owner": owner, "claims_max": limit, "lease_seconds": lease_seconds, **horizon.bounds()}
    async with connection.pipeline():
        marked = await (await connection.execute(_MARK, values)).fetchall()
        ids = [row["id"] for row in marked]
        if not ids:
            return Claims(executions=(), unreadable=())
        read = await connection.execute(_READ, {"ids": ids_parameter(ids)})
        # Whoever wrote a checkpoint held a token that was handed out before.
        again = [row["id"] for row in marked if row["fencing_token"] > _FIRST_TOKEN]
        read_again = (
            await connection.execute(_READ_CHECKPOINTS, {"ids": ids_parameter(again)}) if again else None
        )
    horizon.learn(marked, limit=limit)
    checkpoints = () if read_again is None else await read_again.fetchall()
    return _claims(await read.fetchall(), _by_execution(checkpoints))


def _by_execution(rows: Sequence[Row]) -> Mapping[UUID, Sequence[Row]]:
    grouped: dict[UUID, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["execution_id"]].append(row)
    return grouped


def _claims(rows: Sequence[Row], checkpoints: Mapping[UUID, Sequence[Row]]) -> Claims:
    executions: list[ClaimedExecution] = []
    unreadable: list[UnreadableClaim] = []
    for row in rows:
        try:
            executions.append(_claimed(row, checkpoints.get(row["id"], ())))
        except UnreadableRow:
            unreadable.append(_unreadable(row))
    return Claims(executions=executions, unreadable=unreadable)


def _claimed(row: Row, checkpoints: Sequence[Row]) -> ClaimedExecution:
    return ClaimedExecution(
        fence=_fence_of(row),
        execution=execution_of(row),
        request=request_of(row),
        checkpoints=tuple(checkpoint_of(checkpoint) for checkpoint in checkpoints),
        claims_without_progress=row["claims_without_progress"],
    )


def _unreadable(row: Row) -> UnreadableClaim:
    return UnreadableClaim(
        fence=_fence_of(row),
        flow_id=row["flow_id"],
        from_state=row["from_state"],
        claims_without_progress=row["claims_without_progress"],
    )


def _fence_of(row: Mapping[str, Any]) -> Fence:
    return Fence(
        execution_id=row["id"],
        request_id=row["request_id"],
        owner=LeaseOwner(row["lease_owner"]),
        token=FencingToken(row["fencing_token"]),
    )
