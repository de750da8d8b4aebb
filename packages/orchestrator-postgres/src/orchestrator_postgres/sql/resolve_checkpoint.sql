-- Promises: the checkpoint of the action that stopped says what was verified; one that begins afresh has never started.
-- Locks: action_execution, one row that is held already. Index: action_execution_execution_id_action_id_key.
UPDATE orchestrator.action_execution AS checkpoint
SET
  status = %(status)s,
  attempt_count = %(attempts)s::integer,
  uncertain = %(uncertain)s,
  result = %(result)s,
  provider_reference = %(provider_reference)s,
  error_code = %(error_code)s,
  started_at = CASE WHEN %(attempts)s::integer > 0 THEN checkpoint.started_at END,
  finished_at = CASE WHEN %(attempts)s::integer > 0 THEN clock_timestamp() END
WHERE checkpoint.execution_id = %(execution_id)s AND checkpoint.action_id = %(action)s
RETURNING checkpoint.id
