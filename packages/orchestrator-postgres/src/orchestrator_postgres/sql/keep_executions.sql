-- Promises: a row for each fence that still holds and whose request is as accepted, as the last thing before COMMIT; the
--   count of claims without progress starts again where checkpoints were written.
-- Locks: execution, rows that are held already. Indexes: the primary keys.
WITH kept AS MATERIALIZED (
  SELECT execution.id, execution.claims_without_progress, fence.progressed
  FROM json_to_recordset(%(rows)s::json)
    AS fence (execution_id uuid, request_id uuid, owner text, token bigint, progressed boolean)
  CROSS JOIN LATERAL (
    -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
    SELECT * FROM orchestrator.execution WHERE execution.id = fence.execution_id OFFSET 0
  ) AS execution
  CROSS JOIN LATERAL (
    SELECT request.revision, request.current_state
    FROM orchestrator.request_instance AS request
    WHERE request.id = execution.request_id
    OFFSET 0
  ) AS request
  WHERE execution.request_id = fence.request_id
    AND execution.status = 'RUNNING'
    AND execution.lease_owner = fence.owner
    AND execution.fencing_token = fence.token
    AND execution.lease_until > clock_timestamp()
    AND request.revision = execution.accepted_revision
    AND request.current_state = execution.from_state
),
progressed AS (
  UPDATE orchestrator.execution
  SET claims_without_progress = 0
  WHERE execution.id = ANY (
    ARRAY(SELECT id FROM kept WHERE kept.progressed AND kept.claims_without_progress <> 0)
  )
)
SELECT id FROM kept
