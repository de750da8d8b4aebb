-- Promises: those executions whose lease still runs under its owner and token, at this moment.
-- Locks: none. Index: execution_pkey.
SELECT execution.id
FROM unnest(%(execution_ids)s::uuid[], %(request_ids)s::uuid[], %(owners)s::text[], %(tokens)s::bigint[])
  AS held (execution_id, request_id, owner, token)
JOIN orchestrator.execution ON execution.id = held.execution_id
WHERE execution.request_id = held.request_id
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = held.owner
  AND execution.fencing_token = held.token
  AND execution.lease_until > clock_timestamp()
