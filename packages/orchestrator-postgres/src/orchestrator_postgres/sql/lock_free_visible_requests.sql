-- Promises: those of the requests that their actors may see and that nobody else holds at this moment are locked until the
--   transaction ends.
-- Locks: request_instance, in the order of their ids, FOR UPDATE SKIP LOCKED. What is passed over is busy; the statements
--   after this one tell it from what isn't visible.
-- Index: request_instance_pkey. Owner and scope of a request never change, so they may be read before the lock.
WITH visible AS MATERIALIZED (
  SELECT request.id
  FROM json_to_recordset(%(rows)s::json) AS event (request_id uuid, subject text, scopes text[])
  CROSS JOIN LATERAL (
    -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
    SELECT request.id, request.owner_subject, request.business_scope
    FROM orchestrator.request_instance AS request
    WHERE request.id = event.request_id
    OFFSET 0
  ) AS request
  WHERE request.owner_subject = event.subject OR request.business_scope = ANY (event.scopes)
)
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (ARRAY(SELECT visible.id FROM visible))
ORDER BY request.id
FOR UPDATE SKIP LOCKED
