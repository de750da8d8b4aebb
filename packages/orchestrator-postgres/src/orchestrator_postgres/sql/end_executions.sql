-- Promises: each execution is given back in its new status, if its fence still holds, as the last thing before COMMIT;
--   others stay. The token stays, so that it only ever grows.
-- Locks: execution, rows that are held already. Index: execution_pkey; a row that is locked stays in its place.
WITH held AS MATERIALIZED (
  SELECT given.*, execution.place
  FROM json_to_recordset(%(rows)s::json) AS given (
    execution_id uuid, request_id uuid, owner text, token bigint, status text, result jsonb, error_code text,
    delay_seconds double precision, progressed boolean
  )
  CROSS JOIN LATERAL (
    -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
    SELECT execution.ctid AS place, execution.*
    FROM orchestrator.execution
    WHERE execution.id = given.execution_id
    OFFSET 0
  ) AS execution
  WHERE execution.request_id = given.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = given.owner
    AND execution.fencing_token = given.token
    AND execution.lease_until > clock_timestamp()
),
written AS (
  UPDATE orchestrator.execution
  SET
    status = held.status,
    result = held.result,
    error_code = held.error_code,
    next_attempt_at = CASE
      WHEN held.delay_seconds IS NULL THEN execution.next_attempt_at
      ELSE clock_timestamp() + make_interval(secs => held.delay_seconds)
    END,
    lease_owner = NULL,
    lease_until = NULL,
    claims_without_progress = CASE WHEN held.progressed THEN 0 ELSE execution.claims_without_progress END,
    updated_at = clock_timestamp()
  FROM held
  WHERE execution.ctid = held.place
  RETURNING execution.id
)
SELECT id FROM written
