-- Promises: the execution as the transaction whose COMMIT got no answer has left it: it is waited for.
-- Locks: execution, one row, FOR UPDATE. Index: execution_pkey.
SELECT execution.status, execution.fencing_token
FROM orchestrator.execution
WHERE execution.id = %(execution_id)s
FOR UPDATE
