-- Promises: the request of this execution is locked until the transaction ends, or no row if it lies in another scope.
-- Locks: request_instance, one row, FOR UPDATE. Indexes: execution_pkey, request_instance_pkey.
-- Which request an execution belongs to never changes, so it may be read in the statement that locks.
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = (SELECT execution.request_id FROM orchestrator.execution WHERE execution.id = %(execution_id)s)
  AND request.business_scope = ANY (%(scopes)s)
FOR UPDATE
