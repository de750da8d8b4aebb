-- Promises: the executions are locked until the transaction ends, whoever holds their leases.
-- Locks: execution, in the order of their ids, FOR UPDATE. Index: execution_pkey.
SELECT execution.id
FROM orchestrator.execution
WHERE execution.id = ANY (%(execution_ids)s::uuid[])
ORDER BY execution.id
FOR UPDATE
