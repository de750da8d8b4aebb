-- Promises: the lease ends `lease_seconds` from now if it still runs under its owner and token; otherwise no row.
-- Locks: execution, one row, which the statement before this one has waited for. Index: execution_pkey.
UPDATE orchestrator.execution
SET lease_until = clock_timestamp() + make_interval(secs => %(lease_seconds)s)
WHERE execution.id = %(execution_id)s
  AND execution.request_id = %(request_id)s
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = %(owner)s
  AND execution.fencing_token = %(token)s
  AND execution.lease_until > clock_timestamp()
RETURNING execution.id
