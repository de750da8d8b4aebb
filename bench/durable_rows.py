"""Many executions written at once, as acceptance and runs would have left them."""

from bench.durable_server import BenchDatabase

_REQUESTS = """
INSERT INTO orchestrator.request_instance
  (id, type_key, flow_id, current_state, data, owner_subject, business_scope, revision)
SELECT gen_random_uuid(), type.type_key, type.active_flow_id, 'OPEN', '{"item": "ladder"}', %(owner)s, 'NORTH', 1
FROM orchestrator.request_type AS type, generate_series(1, %(count)s)
WHERE type.type_key = 'BENCH_1'
RETURNING id
"""
_EXECUTIONS = """
INSERT INTO orchestrator.execution
  (id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data,
   transition_id, from_state, accepted_revision, status, next_attempt_at, attempts, fencing_token)
SELECT
  gen_random_uuid(), request.id, 'key' || number, repeat('0', 64), 'clerk',
  '{"subject": "clerk", "roles": ["CLERK"], "scopes": ["NORTH"], "attributes": {}}', 'GO', '{}', 'go', 'OPEN', 1,
  %(status)s, clock_timestamp() - interval '10 minutes' + row_number() OVER () * make_interval(secs => %(apart_seconds)s),
  %(attempts)s, %(attempts)s
FROM requested AS request, generate_series(1, %(each)s) AS number
"""
_FINISH = """
WITH oldest AS (
  SELECT id FROM orchestrator.execution WHERE status = 'PENDING' ORDER BY next_attempt_at, created_at LIMIT %(count)s
),
claimed AS (
  UPDATE orchestrator.execution
  SET status = 'RUNNING', lease_owner = 'other', lease_until = clock_timestamp() + interval '1 minute',
    fencing_token = fencing_token + 1, attempts = attempts + 1
  FROM oldest WHERE execution.id = oldest.id
  RETURNING execution.id
)
SELECT count(*) FROM claimed
"""
_GIVE_BACK = """
UPDATE orchestrator.execution
SET status = 'SUCCEEDED', lease_owner = NULL, lease_until = NULL WHERE lease_owner = 'other'
"""


def add_finished(database: BenchDatabase, count: int) -> None:
    """Add finished executions, a thousand of a request."""
    _add(
        database,
        requests=-(-count // 1000),
        each=min(count, 1000),
        status="SUCCEEDED",
        attempts=1,
    )


def add_pending(database: BenchDatabase, count: int, *, seconds: float | None = None) -> None:
    """Add executions that are due, each of a request of its own.

    They became due over so many seconds; without a number, a thousand in each second.
    """
    if count:
        apart_seconds = 0.001 if seconds is None else seconds / count
        _add(database, requests=count, each=1, status="PENDING", attempts=0, apart_seconds=apart_seconds)


def finish_oldest(database: BenchDatabase, count: int) -> None:
    """Claim and finish those that are due first, as another worker would."""
    with database.connect() as connection:
        connection.execute(_FINISH.encode(), {"count": count})
        connection.execute(_GIVE_BACK.encode())


def _add(
    database: BenchDatabase,
    *,
    requests: int,
    each: int,
    status: str,
    attempts: int,
    apart_seconds: float = 0.001,
) -> None:
    statement = f"WITH requested AS ({_REQUESTS}) {_EXECUTIONS}"
    values = {
        "count": requests,
        "owner": "clerk",
        "each": each,
        "status": status,
        "attempts": attempts,
        "apart_seconds": apart_seconds,
    }
    with database.connect() as connection, connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute(statement.encode(), values)
    with database.connect() as connection:
        connection.execute("VACUUM (ANALYZE) orchestrator.execution, orchestrator.request_instance")
