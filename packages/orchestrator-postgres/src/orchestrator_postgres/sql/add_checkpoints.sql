-- Promises: a new checkpoint for each row whose action has none yet and whose fence holds; others add nothing.
-- Locks: action_execution, the new rows; the executions, which all writers of checkpoints lock first, are held.
-- Indexes: execution_pkey, action_execution_execution_id_action_id_key.
WITH written AS (
  INSERT INTO orchestrator.action_execution (
    id, execution_id, action_id, status, attempt_count, external_idempotency_key, input_hash, effect, uncertain,
    result, provider_reference, error_code, started_at, finished_at
  )
  SELECT
    given.id, execution.id, given.action, given.status, given.attempts, given.external_key, given.input_hash,
    given.effect, given.uncertain, given.result, given.provider_reference, given.error_code,
    -- Also what was held back before its first attempt: how long it may be held counts from here.
    clock_timestamp(),
    CASE WHEN given.finished THEN clock_timestamp() END
  FROM json_to_recordset(%(rows)s::json) AS given (
    execution_id uuid, request_id uuid, owner text, token bigint, id uuid, action text, status text, attempts integer,
    external_key text, input_hash text, effect text, uncertain boolean, result jsonb, provider_reference text,
    error_code text, finished boolean
  )
  CROSS JOIN LATERAL (
    -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
    SELECT * FROM orchestrator.execution WHERE execution.id = given.execution_id OFFSET 0
  ) AS execution
  WHERE execution.request_id = given.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = given.owner
    AND execution.fencing_token = given.token
    AND execution.lease_until > clock_timestamp()
  ON CONFLICT (execution_id, action_id) DO NOTHING
  RETURNING action_execution.id
)
SELECT id FROM written
