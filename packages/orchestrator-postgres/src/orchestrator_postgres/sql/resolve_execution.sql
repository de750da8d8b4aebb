-- Promises: an execution that waits for an operator becomes PENDING, due at once and with its claims counted afresh, or
--   FAILED. No row if it doesn't wait. Lease and token stay as they are: there is no owner, and the token only grows.
-- Locks: execution, one row that is held already. Index: execution_pkey.
UPDATE orchestrator.execution
SET
  status = %(status)s::varchar,
  error_code = %(error_code)s,
  claims_without_progress = 0,
  next_attempt_at = CASE WHEN %(status)s::varchar = 'PENDING' THEN clock_timestamp() ELSE execution.next_attempt_at END,
  updated_at = clock_timestamp()
WHERE execution.id = %(execution_id)s AND execution.status = 'RECONCILIATION_REQUIRED'
RETURNING execution.*
