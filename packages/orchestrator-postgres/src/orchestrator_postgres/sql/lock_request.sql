-- Promises: the request of a run is locked until the transaction ends; requests come before executions.
-- Locks: request_instance, one row, FOR UPDATE. Index: request_instance_pkey.
SELECT request.id
FROM orchestrator.request_instance AS request
WHERE request.id = %(request_id)s
FOR UPDATE
