-- Promises: those of the executions that nobody else holds at this moment are locked until the transaction ends.
-- Locks: execution, in the order of their ids, FOR UPDATE SKIP LOCKED. What is passed over is busy, not lost.
-- Index: execution_pkey.
SELECT execution.id
FROM orchestrator.execution
WHERE execution.id = ANY (%(execution_ids)s::uuid[])
ORDER BY execution.id
FOR UPDATE SKIP LOCKED
