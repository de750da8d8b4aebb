"""Acceptances a second through the use case, beside a script that sends the same statements and nothing else."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from bench.durable_server import migrated_database
from bench.durable_work import DurableWork, durable_work, per_second
from bench.figure import Figure, Measured, RatioAtLeast
from bench.sample import alternately
from orchestrator_domain.identifiers import RequestId
from orchestrator_postgres.engine import connect
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import jsonb

_COUNT, _CLIENTS, _ROUNDS = 500, 10, 3
_EARLIER = (
    b"SELECT * FROM orchestrator.execution WHERE request_id = %(request_id)s AND idempotency_key = 'go'"
)
_INSERT = b"""
INSERT INTO orchestrator.execution
  (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
   transition_id, from_state, accepted_revision, status)
VALUES (%(execution_id)s, %(request_id)s, 'go', %(hash)s, 'clerk', %(snapshot)s, 'GO', '{}', 'go', 'OPEN', 1, 'PENDING')
RETURNING *
"""


async def _use_case() -> float:
    async with durable_work(migrated_database()) as work:
        requests = await work.requests(_COUNT, actions=1)
        return await per_second(_COUNT, lambda: work.accepted(requests, clients=_CLIENTS))


async def _script() -> float:
    async with durable_work(migrated_database()) as work:
        requests = await work.requests(_COUNT, actions=1)
        flow = await work.flow_id(1)
        return await per_second(_COUNT, lambda: _scripted(work, requests, flow))


async def _scripted(work: DurableWork, requests: Sequence[RequestId], flow: UUID) -> None:
    left = iter(requests)
    statements = [sql_file(name) for name in ("lock_visible_request", "read_visible_request")]
    advance = sql_file("advance_request")

    async def client() -> None:
        async with await connect(work.settings) as connection:
            for request_id in left:
                values = _values(work, request_id, flow)
                async with connection.transaction():
                    for statement in (*statements, _EARLIER, _INSERT, advance):
                        await (await connection.execute(statement, values)).fetchall()

    await asyncio.gather(*(client() for _ in range(_CLIENTS)))


def _values(work: DurableWork, request_id: RequestId, flow: UUID) -> dict[str, object]:
    return {
        "request_id": request_id,
        "subject": "clerk",
        "scopes": ["NORTH"],
        "execution_id": work.identifiers.uuid(),
        "hash": "0" * 64,
        "actor": "clerk",
        "snapshot": jsonb({"subject": "clerk", "roles": ["CLERK"], "scopes": ["NORTH"], "attributes": {}}),
        "from_revision": 0,
        "revision_step": 1,
        "to_state": None,
        "data": None,
        "entry_id": work.identifiers.uuid(),
        "kind": "EVENT_ACCEPTED",
        "fact_from_state": "OPEN",
        "fact_to_state": None,
        "flow_id": flow,
        "detail": jsonb({"event": "GO"}),
        "salt": "0" * 32,
        "detail_hash": "0" * 64,
        "content_hash": "0" * 64,
    }


def _measure() -> Measured:
    samples = alternately(
        {"ours": lambda: asyncio.run(_use_case()), "script": lambda: asyncio.run(_script())}, rounds=_ROUNDS
    )
    return Measured(value=samples["ours"], baseline=samples["script"], baseline_name="bare script")


FIGURES = (
    Figure(name="durable-acceptance", unit="acceptances/s", target=RatioAtLeast(0.6), measure=_measure),
)
