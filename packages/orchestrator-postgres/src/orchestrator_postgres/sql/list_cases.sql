-- Promises: the executions in one active status whose requests lie in these scopes, those that have stood like this
--   longest first, from behind a place on; without the data of request and event, which may be large.
-- Locks: none. Index: uq_request_active_execution, which holds active executions alone: what has ended is never read.
SELECT
  execution.id,
  execution.request_id,
  execution.idempotency_key,
  execution.payload_hash,
  execution.actor_snapshot,
  execution.event_key,
  '{}'::jsonb AS event_data,
  execution.transition_id,
  execution.from_state,
  execution.accepted_revision,
  execution.status,
  execution.attempts,
  execution.fencing_token,
  execution.correlation_id,
  execution.result,
  execution.error_code,
  execution.next_attempt_at,
  execution.created_at,
  execution.updated_at,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  '{}'::jsonb AS request_data,
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
WHERE execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  AND execution.status = %(status)s
  AND request.business_scope = ANY (%(scopes)s)
  AND (
    %(since)s::timestamptz IS NULL
    OR (execution.updated_at, execution.id) > (%(since)s::timestamptz, %(after)s::uuid)
  )
ORDER BY execution.updated_at, execution.id
LIMIT %(limit)s
