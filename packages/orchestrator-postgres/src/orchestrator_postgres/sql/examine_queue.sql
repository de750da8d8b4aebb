-- Promises: how long the oldest execution has been due, and how long the oldest lease has been over, in seconds; null where
--   there is none.
-- Locks: none. Indexes: ix_execution_due, ix_execution_lease.
SELECT
  (
    SELECT extract(epoch FROM clock_timestamp() - min(next_attempt_at))::float8
    FROM orchestrator.execution
    WHERE status IN ('PENDING', 'RETRY_WAIT') AND next_attempt_at < (SELECT clock_timestamp())
  ) AS longest_due_seconds,
  (
    SELECT extract(epoch FROM clock_timestamp() - min(lease_until))::float8
    FROM orchestrator.execution
    WHERE status = 'RUNNING' AND lease_until < (SELECT clock_timestamp())
  ) AS longest_expired_seconds
