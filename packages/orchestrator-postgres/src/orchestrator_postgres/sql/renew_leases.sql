-- Promises: each lease that still runs under its owner and token now ends `lease_seconds` from now; those are returned.
--   A lease that has run out stays as it is.
-- Locks: execution, in the order of their ids, FOR UPDATE SKIP LOCKED. A row that is passed over is busy, not lost;
--   those are waited for together, see lock_executions.sql.
-- Index: execution_pkey.
WITH held AS MATERIALIZED (
  SELECT *
  FROM unnest(%(execution_ids)s::uuid[], %(request_ids)s::uuid[], %(owners)s::text[], %(tokens)s::bigint[])
    AS fence (execution_id, request_id, owner, token)
),
locked AS MATERIALIZED (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.id IN (SELECT held.execution_id FROM held)
  ORDER BY execution.id
  FOR UPDATE SKIP LOCKED
)
UPDATE orchestrator.execution
SET lease_until = clock_timestamp() + make_interval(secs => %(lease_seconds)s)
FROM locked
JOIN held ON held.execution_id = locked.id
WHERE execution.id = locked.id
  AND execution.request_id = held.request_id
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = held.owner
  AND execution.fencing_token = held.token
  AND execution.lease_until > clock_timestamp()
RETURNING execution.id
