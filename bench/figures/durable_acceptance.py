"""Acceptances a second through the use case, beside a script that sends the same statements and nothing else.

Each of the script's acceptances has a transaction of its own. One that brings them together would be faster, and is what
the target means; there is none yet.
"""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import DictRow

from bench.durable_server import migrated_database
from bench.durable_work import DurableWork, durable_work, per_second
from bench.figure import Figure, Measured, RatioAtLeast
from bench.sample import alternately
from orchestrator_domain.exact_json.value import JsonObject
from orchestrator_domain.identifiers import RequestId
from orchestrator_postgres.engine import connect
from orchestrator_postgres.history import ADVANCE
from orchestrator_postgres.statements import sql_file
from orchestrator_postgres.stored_json import jsonb, rows_parameter

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

    async def client() -> None:
        async with await connect(work.settings) as connection:
            for request_id in left:
                values = _values(work, request_id, flow)
                found: list[DictRow] = []
                async with connection.transaction():
                    for statement in (*statements, _EARLIER, _INSERT, ADVANCE):
                        found = await (await connection.execute(statement, values)).fetchall()
                    assert found, "A script that moves no request measures nothing."

    await asyncio.gather(*(client() for _ in range(_CLIENTS)))


def _values(work: DurableWork, request_id: RequestId, flow: UUID) -> dict[str, object]:
    execution_id = work.identifiers.uuid()
    return {
        "request_id": request_id,
        "subject": "clerk",
        "scopes": ["NORTH"],
        "execution_id": execution_id,
        "hash": "0" * 64,
        "snapshot": jsonb({"subject": "clerk", "roles": ["CLERK"], "scopes": ["NORTH"], "attributes": {}}),
        **rows_parameter([_move(work, request_id, execution_id, flow)]),
    }


def _move(work: DurableWork, request_id: RequestId, execution_id: UUID, flow: UUID) -> JsonObject:
    return {
        "request_id": str(request_id),
        "from_revision": 0,
        "revision_step": 1,
        "to_state": None,
        "data": None,
        "entry_id": str(work.identifiers.uuid()),
        "execution_id": str(execution_id),
        "kind": "EVENT_ACCEPTED",
        "actor": "clerk",
        "flow_id": str(flow),
        "fact_from_state": "OPEN",
        "fact_to_state": None,
        "detail": {"event": "GO"},
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
