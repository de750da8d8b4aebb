-- Promises: one row if the fence still holds, as the last thing before COMMIT; the count of claims without progress
--   starts again if checkpoints were written.
-- Locks: execution, one row that is held already. Index: execution_pkey.
WITH kept AS MATERIALIZED (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.id = %(execution_id)s
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = %(owner)s
    AND execution.fencing_token = %(token)s
    AND execution.lease_until > clock_timestamp()
),
progressed AS (
  UPDATE orchestrator.execution
  SET claims_without_progress = 0
  FROM kept
  WHERE execution.id = kept.id AND %(progressed)s AND execution.claims_without_progress <> 0
)
SELECT kept.id FROM kept
