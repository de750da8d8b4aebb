-- Promises: for each fence that holds, whether its request is as accepted; the rows are locked by now. A fence that
--   isn't returned is lost.
-- Locks: none; the statements before this one have locked. Indexes: the primary keys.
SELECT
  execution.id,
  request.revision = execution.accepted_revision AND request.current_state = execution.from_state AS as_accepted,
  request.revision AS request_revision
FROM json_to_recordset(%(rows)s::json)
  AS fence (execution_id uuid, request_id uuid, owner text, token bigint)
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
