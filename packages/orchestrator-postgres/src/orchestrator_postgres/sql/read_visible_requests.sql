-- Promises: each request that its actor may see, as committed before this statement, with its flow and the execution that
--   blocks it.
-- Locks: none; what could be locked was, by the statement before this one.
-- Indexes: request_instance_pkey, flow_definition_pkey, uq_request_active_execution; ix_audit_erasure where there is no
--   data, for only then may it have been erased.
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  CASE
    WHEN request.data = '{}'::jsonb THEN (
      SELECT max(erasure.created_at)
      FROM orchestrator.audit_entry AS erasure
      WHERE erasure.request_id = request.id
        AND erasure.kind = 'PERSONAL_DATA_ERASED'
        AND erasure.detail @> '{"erased": ["REQUEST_DATA"]}'::jsonb
    )
  END AS request_data_erased_at,
  flow.id AS flow_id,
  flow.flow_key AS flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum,
  active.id AS active_execution_id
FROM json_to_recordset(%(rows)s::json) AS event (request_id uuid, subject text, scopes text[])
-- OFFSET 0 keeps these lookups by key, whatever the planner thinks of the tables' sizes.
CROSS JOIN LATERAL (
  SELECT * FROM orchestrator.request_instance AS request WHERE request.id = event.request_id OFFSET 0
) AS request
CROSS JOIN LATERAL (
  SELECT flow.id, flow.flow_key, flow.version, flow.checksum
  FROM orchestrator.flow_definition AS flow
  WHERE flow.id = request.flow_id
  OFFSET 0
) AS flow
LEFT JOIN LATERAL (
  SELECT execution.id
  FROM orchestrator.execution
  WHERE execution.request_id = request.id
    AND execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  OFFSET 0
) AS active ON true
WHERE request.owner_subject = event.subject OR request.business_scope = ANY (event.scopes)
