-- Promises: the execution is given back in its new status, if the fence still holds, as the last thing before COMMIT;
--   otherwise no row. The token stays, so that it only ever grows.
-- Locks: execution, one row that is held already. Index: execution_pkey.
UPDATE orchestrator.execution
SET
  status = %(status)s,
  result = %(result)s,
  error_code = %(error_code)s,
  next_attempt_at = CASE
    WHEN %(delay_seconds)s::double precision IS NULL THEN execution.next_attempt_at
    ELSE clock_timestamp() + make_interval(secs => %(delay_seconds)s)
  END,
  lease_owner = NULL,
  lease_until = NULL,
  claims_without_progress = CASE WHEN %(progressed)s THEN 0 ELSE execution.claims_without_progress END,
  updated_at = clock_timestamp()
WHERE execution.id = %(execution_id)s
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = %(owner)s
  AND execution.fencing_token = %(token)s
  AND execution.lease_until > clock_timestamp()
RETURNING execution.id
