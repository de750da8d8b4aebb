-- Promises: the checkpoint of an action is replaced, if status and attempts still are what the write was computed from
--   and the fence holds; otherwise no row. The moment of its first attempt stays.
-- Locks: action_execution, one row. Indexes: execution_pkey, action_execution_execution_id_action_id_key.
UPDATE orchestrator.action_execution AS checkpoint
SET
  status = %(status)s,
  attempt_count = %(attempts)s,
  external_idempotency_key = %(external_key)s,
  input_hash = %(input_hash)s,
  effect = %(effect)s,
  uncertain = %(uncertain)s,
  result = %(result)s,
  provider_reference = %(provider_reference)s,
  error_code = %(error_code)s,
  started_at = coalesce(checkpoint.started_at, CASE WHEN %(attempts)s > 0 THEN clock_timestamp() END),
  finished_at = CASE WHEN %(finished)s THEN clock_timestamp() END
FROM orchestrator.execution
WHERE checkpoint.execution_id = %(execution_id)s
  AND checkpoint.action_id = %(action)s
  AND checkpoint.status = %(before_status)s
  AND checkpoint.attempt_count = %(before_attempts)s
  AND execution.id = checkpoint.execution_id
  AND execution.request_id = %(request_id)s
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = %(owner)s
  AND execution.fencing_token = %(token)s
  AND execution.lease_until > clock_timestamp()
RETURNING checkpoint.id
