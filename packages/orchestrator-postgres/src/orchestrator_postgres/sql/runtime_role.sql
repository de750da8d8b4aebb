-- Promises: one sentence for each power that the service must not have; none for a proper role. Judged are the role that
--   has logged in and the role that it acts as, and with them every role whose powers they could take on.
-- Locks: none. Index: the catalogues' own.
WITH me AS (
  SELECT oid, rolname, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication
  FROM pg_roles
  WHERE rolname IN (current_user, session_user)
),
held AS (
  SELECT r.oid, r.rolname, r.rolsuper
  FROM pg_roles r
  WHERE EXISTS (SELECT FROM me WHERE pg_has_role(me.oid, r.oid, 'MEMBER'))
),
home AS (
  SELECT oid, nspowner FROM pg_namespace WHERE nspname = 'orchestrator'
),
relation AS (
  SELECT c.oid, c.relname, c.relowner
  FROM pg_class c
  JOIN home ON c.relnamespace = home.oid
  WHERE c.relkind IN ('r', 'p')
),
-- What grants.sql grants: rows are added to these tables, and these columns are changed.
allowed (relname, changed) AS (
  VALUES
    ('flow_definition', ARRAY['definition', 'status', 'checksum', 'contracts', 'revision', 'published_at']),
    ('request_type', ARRAY['active_flow_id', 'enabled', 'revision']),
    ('request_instance',
      ARRAY['current_state', 'data', 'revision', 'audit_sequence', 'audit_head', 'updated_at']),
    ('execution',
      ARRAY['status', 'attempts', 'claims_without_progress', 'next_attempt_at', 'lease_owner', 'lease_until',
            'fencing_token', 'accepted_revision', 'result', 'error_code', 'updated_at']),
    ('action_execution',
      ARRAY['status', 'attempt_count', 'external_idempotency_key', 'input_hash', 'effect', 'uncertain', 'result',
            'provider_reference', 'error_code', 'started_at', 'finished_at']),
    ('document_reference', ARRAY[]::text[]),
    ('audit_entry', ARRAY[]::text[]),
    ('admin_audit', ARRAY[]::text[]),
    ('request_creation', ARRAY[]::text[]),
    ('reconciliation_resolution', ARRAY[]::text[])
),
changeable AS (
  SELECT relation.relname, string_agg(a.attname, ', ' ORDER BY a.attnum) AS columns
  FROM relation
  JOIN pg_attribute a ON a.attrelid = relation.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN allowed ON allowed.relname = relation.relname
  WHERE a.attname <> ALL (coalesce(allowed.changed, ARRAY[]::text[]))
    AND EXISTS (SELECT FROM held WHERE has_column_privilege(held.oid, relation.oid, a.attnum, 'UPDATE'))
  GROUP BY relation.relname
)
SELECT 'The role is a superuser.'
WHERE EXISTS (SELECT FROM me WHERE rolsuper)
UNION ALL
SELECT 'The role can become a superuser.'
WHERE NOT EXISTS (SELECT FROM me WHERE rolsuper) AND EXISTS (SELECT FROM held WHERE rolsuper)
UNION ALL
SELECT format('The role is a member of %s.', rolname)
FROM held
WHERE rolname <> 'orchestrator_runtime'
  AND oid NOT IN (SELECT me.oid FROM me)
  AND NOT EXISTS (SELECT FROM me WHERE rolsuper)
UNION ALL
SELECT 'The role bypasses row security.'
WHERE EXISTS (SELECT FROM me WHERE rolbypassrls)
UNION ALL
SELECT 'The role can make roles.'
WHERE EXISTS (SELECT FROM me WHERE rolcreaterole)
UNION ALL
SELECT 'The role can make databases.'
WHERE EXISTS (SELECT FROM me WHERE rolcreatedb)
UNION ALL
SELECT 'The role can replicate.'
WHERE EXISTS (SELECT FROM me WHERE rolreplication)
UNION ALL
SELECT 'The role owns the schema.'
FROM home WHERE nspowner IN (SELECT held.oid FROM held)
UNION ALL
SELECT 'The role can create in the schema.'
FROM home WHERE EXISTS (SELECT FROM held WHERE has_schema_privilege(held.oid, home.oid, 'CREATE'))
UNION ALL
SELECT 'The role can create schemas in the database.'
WHERE EXISTS (SELECT FROM held WHERE has_database_privilege(held.oid, current_database(), 'CREATE'))
UNION ALL
SELECT format('The role owns the table %s.', relname)
FROM relation WHERE relowner IN (SELECT held.oid FROM held)
UNION ALL
SELECT format('The role can %s the table %s.', power.told, relname)
FROM relation
CROSS JOIN (
  VALUES ('DELETE', 'delete from'), ('TRUNCATE', 'empty'), ('TRIGGER', 'put triggers on')
) AS power (privilege, told)
WHERE EXISTS (SELECT FROM held WHERE has_table_privilege(held.oid, relation.oid, power.privilege))
UNION ALL
SELECT format('The role can put references to the table %s.', relname)
FROM relation
WHERE EXISTS (SELECT FROM held WHERE has_any_column_privilege(held.oid, relation.oid, 'REFERENCES'))
UNION ALL
SELECT format('The role can add rows to the table %s.', relname)
FROM relation
WHERE relname NOT IN (SELECT allowed.relname FROM allowed)
  AND EXISTS (SELECT FROM held WHERE has_any_column_privilege(held.oid, relation.oid, 'INSERT'))
UNION ALL
SELECT format('The role can change %s in the table %s.', columns, relname)
FROM changeable
UNION ALL
SELECT 'The role can switch triggers off for its session.'
WHERE EXISTS (SELECT FROM held WHERE has_parameter_privilege(held.oid, 'session_replication_role', 'SET'))
UNION ALL
SELECT 'The role can erase personal data.'
WHERE EXISTS (
  SELECT FROM held
  CROSS JOIN home
  JOIN pg_proc AS door ON door.pronamespace = home.oid AND door.proname IN ('erase_personal_data', 'erase_behind_the_door')
  WHERE has_function_privilege(held.oid, door.oid, 'EXECUTE')
);
