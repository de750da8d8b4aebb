-- Promises: why the role is another one than that of the service, whose powers needn't be told one by one then; no row for
--   a role that the service could be meant to have. Judged are the role that has logged in and the one that it acts as.
-- Locks: none. Index: the catalogues' own.
WITH me AS (
  SELECT oid, rolsuper FROM pg_roles WHERE rolname IN (current_user, session_user)
),
held AS (
  SELECT r.oid, r.rolname, r.rolsuper
  FROM pg_roles r
  WHERE EXISTS (SELECT FROM me WHERE pg_has_role(me.oid, r.oid, 'MEMBER'))
),
-- The first of them is told.
reason (place, told) AS (
  SELECT 1, 'The role is a superuser.'
  WHERE EXISTS (SELECT FROM me WHERE rolsuper)
  UNION ALL
  SELECT 2, 'The role can become a superuser.'
  WHERE EXISTS (SELECT FROM held WHERE rolsuper)
  UNION ALL
  SELECT 3, 'The role owns the schema.'
  FROM pg_namespace n
  WHERE n.nspname = 'orchestrator' AND n.nspowner IN (SELECT held.oid FROM held)
  UNION ALL
  SELECT 4, 'The role is no member of orchestrator_runtime.'
  WHERE NOT EXISTS (SELECT FROM held WHERE rolname = 'orchestrator_runtime')
)
SELECT told FROM reason ORDER BY place LIMIT 1
