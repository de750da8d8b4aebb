-- Promises: every checkpoint of these executions as committed before this statement, with the ages of its first
--   attempt and of its end.
-- Locks: none. Index: action_execution_execution_id_action_id_key.
SELECT
  checkpoint.*,
  extract(epoch FROM clock_timestamp() - checkpoint.started_at) AS age_seconds,
  extract(epoch FROM clock_timestamp() - checkpoint.finished_at) AS ended_age_seconds
FROM orchestrator.action_execution AS checkpoint
WHERE checkpoint.execution_id = ANY (%(ids)s::uuid[])
ORDER BY checkpoint.execution_id, checkpoint.id
