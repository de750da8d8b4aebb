-- Promises: the latest requests of a flow that an actor sees, by id, with how often each has changed.
-- Locks: none.
-- Indexes: request_instance_pkey backwards, or ix_request_flow_state where the flow has few requests.
SELECT request.id, request.revision
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE flow.flow_key = %(flow_key)s
  AND (request.owner_subject = %(subject)s OR request.business_scope = ANY (%(scopes)s))
  AND (%(since)s::timestamptz IS NULL OR request.updated_at >= %(since)s::timestamptz)
  AND request.revision <= %(revision_max)s
ORDER BY request.id DESC
LIMIT %(limit)s
