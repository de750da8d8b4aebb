-- Promises: what a run needs of each execution that this transaction has just claimed, but for the checkpoints.
-- Locks: none; the executions are held since the statement before, whose waiting this one's snapshot comes after.
-- Indexes: the primary keys of execution, request_instance and flow_definition.
SELECT
  execution.*,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum
FROM orchestrator.execution
-- OFFSET 0 keeps these lookups by key, whatever the planner thinks of the tables' sizes.
CROSS JOIN LATERAL (
  SELECT * FROM orchestrator.request_instance AS request WHERE request.id = execution.request_id OFFSET 0
) AS request
CROSS JOIN LATERAL (
  SELECT flow.id, flow.flow_key, flow.version, flow.checksum
  FROM orchestrator.flow_definition AS flow
  WHERE flow.id = request.flow_id
  OFFSET 0
) AS flow
WHERE execution.id = ANY (%(ids)s::uuid[])
ORDER BY execution.next_attempt_at, execution.created_at, execution.id
