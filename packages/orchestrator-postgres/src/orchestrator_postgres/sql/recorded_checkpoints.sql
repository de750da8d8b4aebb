-- Promises: the checkpoints of some executions, their ages left out.
-- Locks: none; every statement of the reader shares the snapshot of one read-only transaction.
-- Indexes: action_execution (execution_id, action_id).
SELECT action_execution.*, 0 AS age_seconds, 0 AS ended_age_seconds
FROM orchestrator.action_execution
WHERE execution_id = ANY (%(ids)s)
ORDER BY execution_id, action_id
