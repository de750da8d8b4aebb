-- Promises: how many of the expected successes are stored as such, with the same key, input hash and effect.
-- Locks: none; the execution, which all writers of its checkpoints lock first, is held.
-- Index: action_execution_execution_id_action_id_key.
SELECT count(*) AS found
FROM unnest(%(actions)s::text[], %(external_keys)s::text[], %(input_hashes)s::text[], %(effects)s::text[])
  AS expected (action_id, external_key, input_hash, effect)
JOIN orchestrator.action_execution AS checkpoint
  ON checkpoint.execution_id = %(execution_id)s
  AND checkpoint.action_id = expected.action_id
WHERE checkpoint.status = 'SUCCEEDED'
  AND checkpoint.external_idempotency_key = expected.external_key
  AND checkpoint.input_hash = expected.input_hash
  AND checkpoint.effect = expected.effect
