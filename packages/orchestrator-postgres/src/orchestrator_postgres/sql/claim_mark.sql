-- Promises: at most `claims_max` due executions become RUNNING under this owner, each with a token higher than any it
--   had and a lease that starts now; what another claimer holds or is taking at this moment is passed over.
--   Oldest first by next_attempt_at, created_at, id; nothing that comes before the given place in this order, or lapsed
--   before the given moment.
-- Locks: execution, the chosen rows, FOR UPDATE SKIP LOCKED. A row that moved between snapshot and lock is looked at
--   again by PostgreSQL in its newest version, since both searches read one table only.
-- Indexes: ix_execution_due and ix_execution_lease; the clock is read once as a subquery, for a volatile call in the
--   condition itself could not bound a scan of either.
WITH waiting AS (
  SELECT execution.id, execution.next_attempt_at, execution.created_at
  FROM orchestrator.execution
  WHERE execution.status IN ('PENDING', 'RETRY_WAIT')
    AND (execution.next_attempt_at, execution.created_at) >= (%(due_from)s::timestamptz, %(created_from)s::timestamptz)
    AND execution.next_attempt_at <= (SELECT clock_timestamp())
  ORDER BY execution.next_attempt_at, execution.created_at, execution.id
  LIMIT %(claims_max)s
  FOR UPDATE SKIP LOCKED
),
abandoned AS (
  SELECT execution.id, execution.next_attempt_at, execution.created_at
  FROM orchestrator.execution
  WHERE execution.status = 'RUNNING'
    AND execution.lease_until >= %(lapsed_from)s::timestamptz
    AND execution.lease_until <= (SELECT clock_timestamp())
  ORDER BY execution.next_attempt_at, execution.created_at, execution.id
  LIMIT %(claims_max)s
  FOR UPDATE SKIP LOCKED
),
chosen AS MATERIALIZED (
  SELECT id FROM (TABLE waiting UNION ALL TABLE abandoned) AS due
  ORDER BY next_attempt_at, created_at, id
  LIMIT %(claims_max)s
)
UPDATE orchestrator.execution
SET
  status = 'RUNNING',
  attempts = execution.attempts + 1,
  claims_without_progress = execution.claims_without_progress + 1,
  fencing_token = execution.fencing_token + 1,
  lease_owner = %(owner)s,
  lease_until = clock_timestamp() + make_interval(secs => %(lease_seconds)s),
  error_code = NULL,
  updated_at = clock_timestamp()
WHERE execution.id = ANY (ARRAY(SELECT chosen.id FROM chosen))
RETURNING
  execution.id,
  execution.fencing_token,
  execution.next_attempt_at,
  execution.created_at,
  clock_timestamp() AS claimed_at
