-- Promises: how many executions stand in each active status, of at most `counted_max`; for how long the one that has
--   been due longest has waited; how many run past their lease; for how long the oldest has waited for an operator.
--   What has ended is never read, however much of it there is.
-- Locks: none. Indexes: uq_request_active_execution, ix_execution_due and ix_execution_lease, each bounded.
WITH active AS (
  SELECT execution.status, execution.updated_at
  FROM orchestrator.execution
  WHERE execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  LIMIT %(counted_max)s
),
lapsed AS (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.status = 'RUNNING' AND execution.lease_until <= (SELECT clock_timestamp())
  LIMIT %(counted_max)s
),
longest_due AS (
  SELECT execution.next_attempt_at
  FROM orchestrator.execution
  WHERE execution.status IN ('PENDING', 'RETRY_WAIT')
    AND execution.next_attempt_at <= (SELECT clock_timestamp())
  ORDER BY execution.next_attempt_at, execution.created_at
  LIMIT 1
)
SELECT
  count(*) FILTER (WHERE active.status = 'PENDING') AS "PENDING",
  count(*) FILTER (WHERE active.status = 'RUNNING') AS "RUNNING",
  count(*) FILTER (WHERE active.status = 'RETRY_WAIT') AS "RETRY_WAIT",
  count(*) FILTER (WHERE active.status = 'RECONCILIATION_REQUIRED') AS "RECONCILIATION_REQUIRED",
  (SELECT count(*) FROM lapsed) AS expired_leases,
  (SELECT extract(epoch FROM clock_timestamp() - next_attempt_at)::float8 FROM longest_due) AS longest_due_seconds,
  extract(
    epoch FROM clock_timestamp()
      - min(active.updated_at) FILTER (WHERE active.status = 'RECONCILIATION_REQUIRED')
  )::float8 AS oldest_reconciliation_seconds
FROM active
