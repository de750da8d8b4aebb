-- Promises: a new checkpoint, if its action has none yet and the fence holds; otherwise no row.
-- Locks: action_execution, the new row; of two at once one waits and then finds the other's.
-- Indexes: execution_pkey, action_execution_execution_id_action_id_key.
INSERT INTO orchestrator.action_execution AS checkpoint (
  id, execution_id, action_id, status, attempt_count, external_idempotency_key, input_hash, effect, uncertain,
  result, provider_reference, error_code, started_at, finished_at
)
SELECT
  %(id)s, execution.id, %(action)s, %(status)s, %(attempts)s, %(external_key)s, %(input_hash)s, %(effect)s,
  %(uncertain)s, %(result)s, %(provider_reference)s, %(error_code)s,
  CASE WHEN %(attempts)s > 0 THEN clock_timestamp() END,
  CASE WHEN %(finished)s THEN clock_timestamp() END
FROM orchestrator.execution
WHERE execution.id = %(execution_id)s
  AND execution.request_id = %(request_id)s
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = %(owner)s
  AND execution.fencing_token = %(token)s
  AND execution.lease_until > clock_timestamp()
ON CONFLICT (execution_id, action_id) DO NOTHING
RETURNING checkpoint.id
