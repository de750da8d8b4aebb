"""What operators see and resolve, in the transaction of one connection."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC

from attrs import frozen

from orchestrator_domain.audit import AuditFact
from orchestrator_domain.execution.checkpoint import Checkpoint
from orchestrator_domain.execution.execution import Execution, ExecutionStatus
from orchestrator_domain.execution.probe import ProbesMade, probes_made
from orchestrator_domain.execution.reconciliation import Evidence, ResolutionKind, Resolved
from orchestrator_domain.identifiers import BusinessScope, ExecutionId
from orchestrator_domain.ports.reconciliation_store import (
    CasePosition,
    ExecutionCase,
    ReconciliationStore,
    ResolutionRecord,
)
from orchestrator_postgres.engine import StoreConnection
from orchestrator_postgres.fault_translation import TransientFault
from orchestrator_postgres.history import RequestMove, advance_request
from orchestrator_postgres.row_mapping import Row, checkpoint_of, execution_of, readable, request_of
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import as_object_or_null, jsonb, jsonb_or_null

_LIST = sql_file("list_cases")
_READ = sql_file("read_case")
_READ_CHECKPOINTS = sql_file("read_checkpoints")
_READ_PROBES = sql_file("read_probes")
# In the order of every writer: request, execution, checkpoints.
_LOCKS = (sql_file("lock_request_in_scope"), sql_file("lock_execution"), sql_file("lock_checkpoints"))
_RESOLVE_EXECUTION = sql_file("resolve_execution")
_RESOLVE_CHECKPOINT = sql_file("resolve_checkpoint")
_ADD_RECORD = sql_file("core/add_resolution")
_RECORDS = sql_file("core/read_resolutions")


@frozen
class PostgresReconciliationStore(ReconciliationStore):
    """Show and resolve executions, in the transaction of one connection."""

    _connection: StoreConnection

    async def list_cases(
        self,
        scopes: Collection[BusinessScope],
        *,
        status: ExecutionStatus,
        after: CasePosition | None,
        limit: int,
    ) -> Sequence[ExecutionCase]:
        values = {
            "scopes": sorted(scopes),
            "status": status.value,
            "since": None if after is None else after.since,
            "after": None if after is None else after.execution_id,
            "limit": limit,
        }
        rows = await (await self._connection.execute(_LIST, values)).fetchall()
        return await self._whole(rows)

    async def find_case(
        self, execution_id: ExecutionId, scopes: Collection[BusinessScope]
    ) -> ExecutionCase | None:
        row = await self._one(_READ, execution_id=execution_id, scopes=sorted(scopes))
        return None if row is None else (await self._whole([row]))[0]

    async def lock_case(
        self, execution_id: ExecutionId, scopes: Collection[BusinessScope]
    ) -> ExecutionCase | None:
        request, *others = _LOCKS
        if await self._one(request, execution_id=execution_id, scopes=sorted(scopes)) is None:
            return None
        for statement in others:
            await self._connection.execute(statement, {"execution_id": execution_id})
        return await self.find_case(execution_id, scopes)

    async def resolutions(self, execution_id: ExecutionId) -> Sequence[ResolutionRecord]:
        cursor = await self._connection.execute(_RECORDS, {"execution_id": execution_id})
        return [_record_of(row) for row in await cursor.fetchall()]

    async def save(
        self, case: ExecutionCase, resolved: Resolved, *, record: ResolutionRecord, fact: AuditFact
    ) -> Execution:
        row = await self._one(
            _RESOLVE_EXECUTION,
            execution_id=case.execution.id,
            status=resolved.execution.status.value,
            error_code=resolved.execution.error_code,
        )
        advanced = await advance_request(self._connection, case.request.id, fact, _move(case, resolved))
        replaced = await self._replaced(case, resolved.checkpoint)
        if row is None or advanced is None or not replaced:
            # Whoever locked the case can't see this; told again, the story reads what has moved.
            raise TransientFault(None)
        await self._connection.execute(_ADD_RECORD, _record_values(record))
        return execution_of(row)

    async def _replaced(self, case: ExecutionCase, checkpoint: Checkpoint | None) -> bool:
        if checkpoint is None:
            return True
        values = _checkpoint_values(case.execution.id, checkpoint)
        return await self._one(_RESOLVE_CHECKPOINT, **values) is not None

    async def _whole(self, rows: Sequence[Row]) -> list[ExecutionCase]:
        ids = [row["id"] for row in rows]
        cursor = await self._connection.execute(_READ_CHECKPOINTS, {"ids": ids})
        checkpoints = _by_execution(await cursor.fetchall())
        probes = await self._probes(rows)
        return [
            ExecutionCase(
                execution=execution_of(row),
                request=request_of(row),
                checkpoints=tuple(checkpoints.get(row["id"], ())),
                probes=probes.get(row["id"]),
            )
            for row in rows
        ]

    async def _probes(self, rows: Sequence[Row]) -> Mapping[ExecutionId, ProbesMade | None]:
        ids, requests = [row["id"] for row in rows], [row["request_id"] for row in rows]
        cursor = await self._connection.execute(_READ_PROBES, {"ids": ids, "requests": requests})
        told = await cursor.fetchall()
        with readable("audit_entry"):
            return {
                execution_id: probes_made(
                    (as_object_or_null(row["detail"]), row["created_at"].astimezone(UTC))
                    for row in told
                    if row["execution_id"] == execution_id
                )
                for execution_id in {row["execution_id"] for row in told}
            }

    async def _one(self, statement: bytes, **values: object) -> Row | None:
        return await (await self._connection.execute(statement, values)).fetchone()


def _move(case: ExecutionCase, resolved: Resolved) -> RequestMove:
    step = 0 if resolved.execution.status.active else 1
    return RequestMove(from_revision=case.request.revision, revision_step=step)


def _by_execution(rows: Iterable[Row]) -> Mapping[ExecutionId, list[Checkpoint]]:
    found: dict[ExecutionId, list[Checkpoint]] = {}
    for row in rows:
        found.setdefault(row["execution_id"], []).append(checkpoint_of(row))
    return found


def _record_of(row: Row) -> ResolutionRecord:
    with readable("reconciliation_resolution"):
        return ResolutionRecord(
            id=row["id"],
            execution_id=row["execution_id"],
            key=row["idempotency_key"],
            payload_hash=row["payload_hash"],
            action=row["action_id"],
            kind=ResolutionKind(row["resolution"]),
            evidence=Evidence(text=row["evidence"]["text"], reference=row["evidence"]["reference"]),
            result=as_object_or_null(row["result"]),
            operator=row["operator_subject"],
            correlation_id=row["correlation_id"],
            created_at=row["created_at"].astimezone(UTC),
        )


def _record_values(record: ResolutionRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "execution_id": record.execution_id,
        "idempotency_key": record.key,
        "payload_hash": record.payload_hash,
        "action_id": record.action,
        "resolution": record.kind.value,
        "evidence": jsonb({"text": record.evidence.text, "reference": record.evidence.reference}),
        "result": jsonb_or_null(record.result),
        "operator_subject": record.operator,
        "correlation_id": record.correlation_id,
    }


def _checkpoint_values(execution_id: ExecutionId, checkpoint: Checkpoint) -> dict[str, object]:
    return {
        "execution_id": execution_id,
        "action": checkpoint.action,
        "status": checkpoint.status.value,
        "attempts": checkpoint.attempts,
        "uncertain": checkpoint.uncertain,
        "result": jsonb_or_null(checkpoint.result),
        "provider_reference": checkpoint.provider_reference,
        "error_code": checkpoint.error_code,
    }
