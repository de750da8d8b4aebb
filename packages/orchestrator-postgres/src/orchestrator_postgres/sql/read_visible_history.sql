-- Promises: no row unless the actor sees the request; else the wanted entries behind a place, in order of sequence, or
--   one row without an entry.
-- Locks: none. Entries are only ever added, at the end of their request's sequence.
-- Indexes: request_instance_pkey, audit_entry_request_id_sequence_key.
SELECT entry.*
FROM orchestrator.request_instance AS request
LEFT JOIN LATERAL (
  SELECT *
  FROM orchestrator.audit_entry AS written
  WHERE written.request_id = request.id
    AND written.sequence > %(after)s
    AND (%(kind)s::varchar IS NULL OR written.kind = %(kind)s::varchar)
    AND (%(execution_id)s::uuid IS NULL OR written.execution_id = %(execution_id)s::uuid)
    AND (%(since)s::timestamptz IS NULL OR written.created_at >= %(since)s::timestamptz)
    AND (%(until)s::timestamptz IS NULL OR written.created_at < %(until)s::timestamptz)
  ORDER BY written.sequence
  LIMIT %(limit)s
) AS entry ON true
WHERE request.id = %(request_id)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
ORDER BY entry.sequence
