"""The durable store as a stage: its clock can't be moved, so what waits for it is moved the other way."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from attrs import evolve
from tests.plugins.migrated_database import DELETE_EVERYTHING
from tests.plugins.postgres_harness import PostgresHarness
from tests.simulation.perilous_store import PerilousUnitOfWork
from tests.simulation.stage import Stage
from tests.simulation.witness import Rows

from orchestrator_domain.audit import AuditEntry, AuditFact
from orchestrator_domain.flow.lifecycle import FlowStatus, StoredFlow
from orchestrator_domain.identifiers import ActionKey, ExecutionId, RequestId, Revision
from orchestrator_domain.ports.execution_queue import ExecutionQueue
from orchestrator_domain.ports.published_flows import PublishedFlows
from orchestrator_domain.ports.unit_of_work import Transaction, UnitOfWork
from orchestrator_domain.request.request import Request
from orchestrator_domain.testing.contracts.stored_cases import creation_of
from orchestrator_domain.testing.examples import admin_fact, request_type
from orchestrator_domain.testing.in_memory.rows import CheckpointRow, ExecutionRow, Lease, RequestRow
from orchestrator_postgres.row_mapping import Row, audit_entry_of, checkpoint_of, execution_of, request_of

_EXECUTIONS = b"SELECT * FROM orchestrator.execution"
_CHECKPOINTS = b"SELECT *, 0 AS age_seconds, 0 AS ended_age_seconds FROM orchestrator.action_execution"
_HISTORY = b"SELECT * FROM orchestrator.audit_entry"
_REQUESTS = b"""
SELECT
  request.id AS request_id, type_key AS request_type_key, current_state AS request_current_state,
  data AS request_data, owner_subject AS request_owner_subject, business_scope AS request_business_scope,
  request.revision AS request_revision, request.created_at AS request_created_at,
  request.updated_at AS request_updated_at, initial_data, audit_sequence, audit_head,
  flow.id AS flow_id, flow_key, version AS flow_version, checksum AS flow_checksum
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
"""
_PASS_LEASES = b"""
UPDATE orchestrator.execution
SET lease_until = lease_until - %s, next_attempt_at = next_attempt_at - %s
WHERE status IN ('PENDING', 'RETRY_WAIT', 'RUNNING')
"""
_PASS_ATTEMPTS = b"UPDATE orchestrator.action_execution SET started_at = started_at - %s"


class PostgresStage(Stage):
    """One database. Times are told as if those seconds had passed that everything was moved back by."""

    def __init__(self, harness: PostgresHarness) -> None:
        self._harness = harness
        self._passed = timedelta()

    async def empty(self) -> None:
        """Delete what an earlier seed has left."""
        await self._harness.superuser.execute(DELETE_EVERYTHING.encode())

    def queue(self) -> ExecutionQueue:
        return self._harness.queue()

    def stories(self) -> UnitOfWork:
        return PerilousUnitOfWork(self._harness.unit_of_work(), shared=False)

    def published_flows(self) -> PublishedFlows:
        return self._harness.published_flows()

    async def publish(self, flow: StoredFlow) -> None:
        draft = evolve(flow, status=FlowStatus.DRAFT, checksum=None, contracts=(), revision=Revision(0))
        assert flow.checksum is not None, "a published flow has a checksum"
        ready = draft.published(checksum=flow.checksum, contracts=flow.contracts)

        async def story(work: Transaction) -> None:
            await work.flows.add(draft, admin_fact("FLOW_CREATED", flow_id=flow.id))
            await work.flows.save(
                ready, before=draft.revision, fact=admin_fact("FLOW_PUBLISHED", flow_id=flow.id)
            )
            await work.request_types.add(request_type(ready), admin_fact("FLOW_ACTIVATED", flow_id=flow.id))

        await self._harness.unit_of_work().run(story)

    async def create(self, request: Request, fact: AuditFact) -> None:
        async def story(work: Transaction) -> None:
            await work.requests.reserve_creation(creation_of(request))
            await work.requests.add(request, fact)

        await self._harness.unit_of_work().run(story)

    async def look(self) -> tuple[Rows, datetime]:
        superuser = self._harness.superuser
        async with superuser.pipeline():
            now = await superuser.execute(b"SELECT clock_timestamp() AS now")
            executions = await superuser.execute(_EXECUTIONS)
            requests = await superuser.execute(_REQUESTS)
            checkpoints = await superuser.execute(_CHECKPOINTS)
            history = await superuser.execute(_HISTORY)
            (moment,) = await now.fetchall()
            rows = Rows(
                executions=self._executions(await executions.fetchall()),
                requests={row["request_id"]: _request_row(row) for row in await requests.fetchall()},
                checkpoints=_checkpoints(await checkpoints.fetchall()),
                history=_history(await history.fetchall()),
            )
        return rows, moment["now"].astimezone(UTC) + self._passed

    async def advance(self, seconds: float) -> None:
        passing = timedelta(seconds=seconds)
        await self._harness.superuser.execute(_PASS_LEASES, (passing, passing))
        await self._harness.superuser.execute(_PASS_ATTEMPTS, (passing,))
        self._passed += passing

    async def move_by_hand(self, request_id: RequestId) -> None:
        await self._harness.move_request(request_id)

    def _executions(self, rows: Sequence[Row]) -> dict[ExecutionId, ExecutionRow]:
        return {row["id"]: self._execution_row(row) for row in rows}

    def _execution_row(self, row: Row) -> ExecutionRow:
        execution, lease = execution_of(row), None
        if row["lease_until"] is not None:
            lease = Lease(owner=row["lease_owner"], until=row["lease_until"].astimezone(UTC) + self._passed)
        if execution.status.active and execution.next_attempt_at is not None:
            execution = evolve(execution, next_attempt_at=execution.next_attempt_at + self._passed)
        return ExecutionRow(
            execution=execution,
            accepted_flow=row["id"],
            lease=lease,
            claims_without_progress=row["claims_without_progress"],
        )


def _request_row(row: Row) -> RequestRow:
    return RequestRow(
        request=request_of(row),
        initial_data=row["initial_data"],
        audit_sequence=row["audit_sequence"],
        audit_head=row["audit_head"],
    )


def _checkpoints(rows: Sequence[Row]) -> dict[ExecutionId, dict[ActionKey, CheckpointRow]]:
    found: dict[ExecutionId, dict[ActionKey, CheckpointRow]] = defaultdict(dict)
    for row in rows:
        checkpoint = evolve(checkpoint_of(row), started_at=None, finished_at=None)
        found[row["execution_id"]][checkpoint.action] = CheckpointRow(id=row["id"], checkpoint=checkpoint)
    return found


def _history(rows: Sequence[Row]) -> dict[tuple[RequestId, int], AuditEntry]:
    return {(row["request_id"], row["sequence"]): audit_entry_of(row) for row in rows}
