-- Promises: what a doctor asks of a server beside its schema. Transactions of other roles are counted, and their ages are
--   null unless this role may see them (pg_read_all_stats).
-- Locks: none. Index: none; the views are the server's own.
SELECT
  pg_is_in_recovery() AS is_standby,
  extract(epoch FROM clock_timestamp())::float8 AS epoch_seconds,
  (
    SELECT max(extract(epoch FROM clock_timestamp() - xact_start))::float8
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
  ) AS longest_transaction_seconds,
  (
    SELECT max(extract(epoch FROM clock_timestamp() - prepared))::float8
    FROM pg_prepared_xacts
    WHERE database = current_database()
  ) AS longest_prepared_seconds,
  (
    SELECT count(*)
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND state IS NULL
  ) AS sessions_hidden
