-- Promises: every checkpoint of this execution is locked until the transaction ends.
-- Locks: action_execution, the rows, FOR UPDATE, in the order of their ids; after the request and the execution.
-- Index: action_execution_execution_id_action_id_key.
SELECT checkpoint.id
FROM orchestrator.action_execution AS checkpoint
WHERE checkpoint.execution_id = %(execution_id)s
ORDER BY checkpoint.id
FOR UPDATE
