-- Promises: each checkpoint is replaced if status and attempts still are what its write was computed from and its
--   fence holds; others stay. The moment of the first attempt, or of the first that was held back, stays.
-- Locks: action_execution, the rows; the executions, which all writers of checkpoints lock first, are held.
-- Indexes: execution_pkey, action_execution_execution_id_action_id_key; what only its locker may write stays in its place.
WITH held AS MATERIALIZED (
  SELECT given.*, checkpoint.place
  FROM json_to_recordset(%(rows)s::json) AS given (
    execution_id uuid, request_id uuid, owner text, token bigint, action text, status text, attempts integer,
    external_key text, input_hash text, effect text, uncertain boolean, result jsonb, provider_reference text,
    error_code text, finished boolean, before_status text, before_attempts integer
  )
  CROSS JOIN LATERAL (
    -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
    SELECT * FROM orchestrator.execution WHERE execution.id = given.execution_id OFFSET 0
  ) AS execution
  CROSS JOIN LATERAL (
    SELECT checkpoint.ctid AS place
    FROM orchestrator.action_execution AS checkpoint
    WHERE checkpoint.execution_id = given.execution_id
      AND checkpoint.action_id = given.action
      AND checkpoint.status = given.before_status
      AND checkpoint.attempt_count = given.before_attempts
    OFFSET 0
  ) AS checkpoint
  WHERE execution.request_id = given.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = given.owner
    AND execution.fencing_token = given.token
    AND execution.lease_until > clock_timestamp()
),
written AS (
  UPDATE orchestrator.action_execution AS checkpoint
  SET
    status = held.status,
    attempt_count = held.attempts,
    external_idempotency_key = held.external_key,
    input_hash = held.input_hash,
    effect = held.effect,
    uncertain = held.uncertain,
    result = held.result,
    provider_reference = held.provider_reference,
    error_code = held.error_code,
    started_at = coalesce(checkpoint.started_at, clock_timestamp()),
    finished_at = CASE WHEN held.finished THEN clock_timestamp() END
  FROM held
  WHERE checkpoint.ctid = held.place
  RETURNING checkpoint.id
)
SELECT id FROM written
