-- Promises: a row for each expected success that is stored as such with the same key, input hash and effect.
-- Locks: none; the executions, which all writers of checkpoints lock first, are held.
-- Index: action_execution_execution_id_action_id_key.
SELECT expected.execution_id
FROM json_to_recordset(%(rows)s::json)
  AS expected (execution_id uuid, action text, external_key text, input_hash text, effect text)
CROSS JOIN LATERAL (
  -- OFFSET 0 keeps this a lookup by key, whatever the planner thinks of the table's size.
  SELECT
  FROM orchestrator.action_execution AS checkpoint
  WHERE checkpoint.execution_id = expected.execution_id
    AND checkpoint.action_id = expected.action
    AND checkpoint.status = 'SUCCEEDED'
    AND checkpoint.external_idempotency_key = expected.external_key
    AND checkpoint.input_hash = expected.input_hash
    AND checkpoint.effect = expected.effect
  OFFSET 0
) AS checkpoint
