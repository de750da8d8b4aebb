-- Promises: how many requests the reader of recorded requests will find with the same filter in the same snapshot.
-- Locks: none.
-- Indexes: none that would help without a flow; ix_request_flow_state with one.
SELECT count(*) AS requests
FROM orchestrator.request_instance AS request
JOIN orchestrator.flow_definition AS flow ON flow.id = request.flow_id
WHERE (%(since)s::timestamptz IS NULL OR request.updated_at >= %(since)s::timestamptz)
  AND (%(flow_key)s::text IS NULL OR flow.flow_key = %(flow_key)s::text)
