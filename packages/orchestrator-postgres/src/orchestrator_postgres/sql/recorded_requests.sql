-- Promises: the next requests in the order of their ids, each with its flow's reference and the head of its chain.
-- Locks: none; every statement of the reader shares the snapshot of one read-only transaction.
-- Indexes: the primary keys of request_instance and flow_definition.
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.initial_data,
  request.audit_head,
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
  flow.flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE (%(after)s::uuid IS NULL OR request.id > %(after)s::uuid)
  AND (%(request_id)s::uuid IS NULL OR request.id = %(request_id)s::uuid)
  AND (%(since)s::timestamptz IS NULL OR request.updated_at >= %(since)s::timestamptz)
  AND (%(flow_key)s::text IS NULL OR flow.flow_key = %(flow_key)s::text)
ORDER BY request.id
LIMIT %(limit)s
