-- Promises: whether the fence holds and whether the request is as accepted, for rows that are locked by now.
--   No row means that the lease is lost.
-- Locks: none; the statement before this one has waited for the execution. Indexes: the primary keys.
SELECT
  request.revision = execution.accepted_revision AND request.current_state = execution.from_state AS as_accepted,
  request.revision AS request_revision,
  execution.actor_subject
FROM orchestrator.execution
JOIN orchestrator.request_instance AS request ON request.id = execution.request_id
WHERE execution.id = %(execution_id)s
  AND execution.request_id = %(request_id)s
  AND execution.status = 'RUNNING'
  AND execution.lease_owner = %(owner)s
  AND execution.fencing_token = %(token)s
  AND execution.lease_until > clock_timestamp()
