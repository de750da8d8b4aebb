-- Promises: each checkpoint is replaced if status and attempts still are what its write was computed from and its
--   fence holds; others stay. The moment of the first attempt stays.
-- Locks: action_execution, the rows; the executions, which all writers of checkpoints lock first, are held.
-- Indexes: execution_pkey, action_execution_execution_id_action_id_key.
UPDATE orchestrator.action_execution AS checkpoint
SET
  status = given.status,
  attempt_count = given.attempts,
  external_idempotency_key = given.external_key,
  input_hash = given.input_hash,
  effect = given.effect,
  uncertain = given.uncertain,
  result = given.result,
  provider_reference = given.provider_reference,
  error_code = given.error_code,
  started_at = coalesce(checkpoint.started_at, CASE WHEN given.attempts > 0 THEN clock_timestamp() END),
  finished_at = CASE WHEN given.finished THEN clock_timestamp() END
FROM json_to_recordset(%(rows)s::json) AS given (
  execution_id uuid, request_id uuid, owner text, token bigint, action text, status text, attempts integer,
  external_key text, input_hash text, effect text, uncertain boolean, result jsonb, provider_reference text,
  error_code text, finished boolean, before_status text, before_attempts integer
)
JOIN orchestrator.execution ON execution.id = given.execution_id
WHERE checkpoint.execution_id = given.execution_id
  AND checkpoint.action_id = given.action
  AND checkpoint.status = given.before_status
  AND checkpoint.attempt_count = given.before_attempts
  AND execution.request_id = given.request_id
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = given.owner
  AND execution.fencing_token = given.token
  AND execution.lease_until > clock_timestamp()
