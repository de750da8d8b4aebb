-- Promises: one text for each resource that exists, another one after each change of it that a reader can see.
-- Locks: none.
-- Indexes: request_instance_pkey, execution_pkey.
SELECT request.id, request.revision::text AS mark
FROM orchestrator.request_instance AS request
WHERE request.id = ANY (%(requests)s)
UNION ALL
SELECT execution.id, concat_ws(' ', execution.status, execution.error_code, execution.updated_at) AS mark
FROM orchestrator.execution AS execution
WHERE execution.id = ANY (%(executions)s)
