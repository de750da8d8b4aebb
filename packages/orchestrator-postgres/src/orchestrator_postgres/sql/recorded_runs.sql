-- Promises: some requests, as far as an actor sees them, each with its flow's reference and the data that it began with.
-- Locks: none; every statement of the reader shares the snapshot of one read-only transaction.
-- Indexes: the primary keys of request_instance and flow_definition, ix_audit_erasure.
SELECT
  request.id AS request_id,
  request.type_key AS request_type_key,
  request.current_state AS request_current_state,
  request.data AS request_data,
  request.initial_data,
  request.owner_subject AS request_owner_subject,
  request.business_scope AS request_business_scope,
  request.revision AS request_revision,
  request.created_at AS request_created_at,
  request.updated_at AS request_updated_at,
  flow.id AS flow_id,
  flow.flow_key,
  flow.version AS flow_version,
  flow.checksum AS flow_checksum,
  NOT EXISTS (
    SELECT FROM orchestrator.audit_entry AS erasure
    WHERE erasure.request_id = request.id
      AND erasure.kind = 'PERSONAL_DATA_ERASED'
      AND erasure.detail -> 'erased' ?| %(replayed)s::text[]
  ) AS replayable
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE request.id = ANY (%(ids)s)
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
ORDER BY request.id
