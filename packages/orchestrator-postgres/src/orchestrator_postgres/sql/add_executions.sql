-- Promises: a new execution for each request that is at the revision before the accepted one, returned as it is stored;
--   no row for a request that isn't.
-- Locks: execution, the new rows; the requests are held by the caller's first statement. Index: request_instance_pkey.
INSERT INTO orchestrator.execution (
  id, request_id, idempotency_key, payload_hash, actor_subject, actor_snapshot, event_key, event_data, transition_id,
  from_state, accepted_revision, correlation_id, status
)
SELECT
  given.id, request.id, given.idempotency_key, given.payload_hash, given.actor_subject, given.actor_snapshot,
  given.event_key, given.event_data, given.transition_id, given.from_state, given.accepted_revision,
  given.correlation_id, given.status
FROM json_to_recordset(%(rows)s::json) AS given (
  id uuid, request_id uuid, idempotency_key text, payload_hash text, actor_subject text, actor_snapshot jsonb,
  event_key text, event_data jsonb, transition_id text, from_state text, accepted_revision bigint, correlation_id text,
  status text
)
CROSS JOIN LATERAL (
  -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
  SELECT request.id
  FROM orchestrator.request_instance AS request
  WHERE request.id = given.request_id AND request.revision = given.accepted_revision - 1
  OFFSET 0
) AS request
RETURNING execution.*
