"""A bare acceptance: statements that accept many events, coalesced, with one commit for all that is ready.

It locks, reads what an acceptance is decided from, stores the executions and moves the requests on with their history;
it decides nothing and refuses nobody.
"""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from attrs import define

from bench.durable_work import DurableWork
from bench.script_lane import ScriptLane
from bench.script_rows import ScriptRows
from orchestrator_domain.identifiers import RequestId
from orchestrator_postgres.engine import StoreConnection, connect
from orchestrator_postgres.history import ADVANCE

_LOCK = b"""
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (%(ids)s::uuid[])
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
ORDER BY request.id
FOR UPDATE
"""
_READ = b"""
SELECT
  request.id AS request_id, request.type_key AS request_type_key, request.current_state AS request_current_state,
  request.data AS request_data, request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope, request.revision AS request_revision,
  request.created_at AS request_created_at, request.updated_at AS request_updated_at,
  flow.id AS flow_id, flow.flow_key, flow.version AS flow_version, flow.checksum AS flow_checksum,
  active.id AS active_execution_id
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
LEFT JOIN orchestrator.execution AS active
  ON active.request_id = request.id
  AND active.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
WHERE request.id = ANY (%(ids)s::uuid[])
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
"""
_EARLIER = b"""
SELECT execution.*
FROM unnest(%(ids)s::uuid[], %(keys)s::text[]) AS given (request_id, key)
JOIN orchestrator.execution
  ON execution.request_id = given.request_id AND execution.idempotency_key = given.key
"""
_INSERT = b"""
INSERT INTO orchestrator.execution
  (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
   transition_id, from_state, accepted_revision, correlation_id, status)
SELECT
  id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
  transition_id, from_state, accepted_revision, correlation_id, status
FROM json_to_recordset(%(rows)s::json) AS given (
  id uuid, request_id uuid, idempotency_key text, payload_hash text, actor_subject text, actor_snapshot jsonb,
  event_key text, event_data jsonb, transition_id text, from_state text, accepted_revision bigint,
  correlation_id text, status text
)
RETURNING *
"""


@define(kw_only=True, eq=False)
class AcceptanceScript:
    """Accept the event of each request, from so many clients at once."""

    work: DurableWork
    rows: ScriptRows
    clients: int

    async def accept(self, requests: Sequence[RequestId], flow: UUID) -> None:
        left = iter(requests)
        async with await connect(self.work.settings) as connection:
            self.rows.prepare(connection)
            lane = ScriptLane[RequestId](lambda batch: self._send(connection, batch, flow))

            async def client() -> None:
                for request_id in left:
                    await lane.bring(request_id)

            await asyncio.gather(*(client() for _ in range(self.clients)))

    async def _send(self, connection: StoreConnection, batch: Sequence[RequestId], flow: UUID) -> None:
        wanted = {"ids": list(batch), "keys": ["go"] * len(batch), "subject": "clerk", "scopes": ["NORTH"]}
        async with connection.transaction():
            async with connection.pipeline():
                await connection.execute(_LOCK, wanted)
                read = await connection.execute(_READ, wanted)
                await connection.execute(_EARLIER, wanted)
            for visible in await read.fetchall():
                self.rows.check_command(visible)
            executions = [self.rows.execution(request_id) for request_id in batch]
            moves = [self.rows.accepted(execution, flow) for execution in executions]
            async with connection.pipeline():
                stored = await connection.execute(_INSERT, {"rows": self.rows.text(executions)})
                moved = await connection.execute(ADVANCE, {"rows": self.rows.text(moves)})
            for execution in await stored.fetchall():
                self.rows.check_execution(execution)
            assert moved.rowcount == len(batch), "a script that moves no request measures nothing"
