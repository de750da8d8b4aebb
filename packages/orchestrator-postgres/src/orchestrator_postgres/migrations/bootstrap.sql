-- Run once per cluster and database by an administrator, before the first migration.
-- The group roles hold privileges and can't log in; login roles are made members of them.

DO $roles$
DECLARE
  group_role text;
BEGIN
  FOREACH group_role IN ARRAY ARRAY['orchestrator_runtime', 'orchestrator_retention'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = group_role) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', group_role);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- Somebody else has just made it.
      END;
    END IF;
  END LOOP;
END $roles$;
