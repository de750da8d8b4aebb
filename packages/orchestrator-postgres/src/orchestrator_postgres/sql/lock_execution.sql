-- Promises: the execution of a run is locked until the transaction ends, whoever holds its lease.
-- Locks: execution, one row, FOR UPDATE. Index: execution_pkey.
SELECT execution.id
FROM orchestrator.execution
WHERE execution.id = %(execution_id)s
FOR UPDATE
