-- Promises: the execution that each event's key has started on its request, if there is one, whatever became of it.
-- Locks: none; it follows the statement that locked the requests. Index: execution_request_id_idempotency_key_key.
SELECT execution.*
FROM json_to_recordset(%(rows)s::json) AS event (request_id uuid, key text)
CROSS JOIN LATERAL (
  -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
  SELECT *
  FROM orchestrator.execution
  WHERE execution.request_id = event.request_id AND execution.idempotency_key = event.key
  OFFSET 0
) AS execution
