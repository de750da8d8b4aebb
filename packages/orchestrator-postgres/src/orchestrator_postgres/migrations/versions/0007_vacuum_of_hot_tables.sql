-- When autovacuum looks after the tables that every event writes to. By default it waits until a fifth of a table is dead:
-- in a table of ten million executions that is two million dead entries at the front of the indexes which claims walk.
-- Nothing is rewritten, and neither reading nor writing waits for this.

-- An execution is written three or four times on its way and each time changes an indexed column, a checkpoint twice, a
-- request twice for each event. A fiftieth keeps what is dead small beside what the indexes hold; the thousand keeps
-- small tables from being vacuumed every minute. The default price of a page was made for disks that turn: a vacuum that
-- may do five times as much between two pauses keeps up with thousands of events a second. Statistics follow as closely,
-- since the share of executions that are not over is what plans of claims rest on.
ALTER TABLE orchestrator.execution SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_limit = 1000,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 1000
);
ALTER TABLE orchestrator.action_execution SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_limit = 1000,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 1000
);
-- Data that is too large for its row is stored anew with each transition, beside the table.
ALTER TABLE orchestrator.request_instance SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_limit = 1000,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 1000,
  toast.autovacuum_vacuum_scale_factor = 0.02,
  toast.autovacuum_vacuum_threshold = 1000,
  toast.autovacuum_vacuum_cost_limit = 1000
);
-- Histories only grow. A vacuum after every twentieth, not fifth, part that is new marks it all-visible and freezes it in
-- small portions, instead of the whole table at once when transaction ids grow old.
ALTER TABLE orchestrator.audit_entry SET (
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_vacuum_cost_limit = 1000,
  autovacuum_analyze_scale_factor = 0.05
);

-- This revision only adds.
CREATE OR REPLACE FUNCTION orchestrator.serves_code_since() RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog AS $$ SELECT '0006' $$;
