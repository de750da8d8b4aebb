-- Promises: the next requests, in the order of their ids, that a rule of retention means and that still hold something of
--   what it erases: ended (or open ones too, where the rule says so), unchanged for long enough, blocked by no execution.
-- Locks: none; whoever erases looks again under the request's lock.
-- Indexes: request_instance_pkey, uq_request_active_execution; ix_audit_erasure inside erased_parts.
SELECT request.id, request.flow_id, request.revision, erased.parts AS erased
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
CROSS JOIN LATERAL (
  -- OFFSET 0: the function is called once for each row.
  SELECT orchestrator.erased_parts(request.id) AS parts
  OFFSET 0
) AS erased
WHERE (%(after)s::uuid IS NULL OR request.id > %(after)s::uuid)
  AND (%(request_id)s::uuid IS NULL OR request.id = %(request_id)s::uuid)
  AND request.updated_at <= (SELECT clock_timestamp()) - make_interval(days => %(after_days)s)
  AND (%(request_types)s::text[] = '{}' OR request.type_key = ANY (%(request_types)s::text[]))
  AND (%(flows)s::text[] = '{}' OR flow.flow_key = ANY (%(flows)s::text[]))
  AND (%(states)s::text[] = '{}' OR request.current_state = ANY (%(states)s::text[]))
  AND (%(scopes)s::text[] = '{}' OR request.business_scope = ANY (%(scopes)s::text[]))
  AND (
    %(open_requests)s
    OR EXISTS (
      SELECT FROM jsonb_array_elements(flow.definition -> 'states') AS state (body)
      WHERE state.body ->> 'key' = request.current_state AND state.body -> 'terminal' = 'true'::jsonb
    )
  )
  AND NOT EXISTS (
    SELECT FROM orchestrator.execution
    WHERE execution.request_id = request.id
      AND execution.status IN ('PENDING', 'RUNNING', 'RETRY_WAIT', 'RECONCILIATION_REQUIRED')
  )
  AND NOT %(erase)s::text[] <@ erased.parts
ORDER BY request.id
LIMIT %(limit)s
