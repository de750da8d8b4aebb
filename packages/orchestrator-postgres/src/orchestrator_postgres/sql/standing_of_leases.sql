-- Promises: those executions whose lease still runs under its owner and token, at this moment, and those that were given
--   back under that token: the token stays until the next claim. Whatever isn't returned is lost.
-- Locks: none. Index: execution_pkey.
SELECT execution.id, execution.status <> 'RUNNING' AS given_back
FROM unnest(%(execution_ids)s::uuid[], %(request_ids)s::uuid[], %(owners)s::text[], %(tokens)s::bigint[])
  AS held (execution_id, request_id, owner, token)
JOIN orchestrator.execution ON execution.id = held.execution_id
WHERE execution.request_id = held.request_id
  AND execution.fencing_token = held.token
  AND (
    execution.status <> 'RUNNING'
    OR (execution.lease_owner = held.owner AND execution.lease_until > clock_timestamp())
  )
