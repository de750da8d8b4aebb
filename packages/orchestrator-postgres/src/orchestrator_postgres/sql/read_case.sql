-- Promises: the execution with its request and flow as committed before this statement, or no row if it lies in
--   another scope; who owns the request doesn't matter.
-- Locks: none; where rows were locked, it was by the statements before this one.
-- Indexes: execution_pkey, request_instance_pkey, flow_definition_pkey.
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
JOIN orchestrator.request_instance AS request ON request.id = execution.request_id
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE execution.id = %(execution_id)s AND request.business_scope = ANY (%(scopes)s)
