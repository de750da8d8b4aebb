-- Promises: one sentence for each power of the current role that the service must not have; none for a proper one.
-- Locks: none. Index: the catalogues' own.
WITH me AS (
  SELECT oid, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication
  FROM pg_roles
  WHERE rolname = current_user
),
held AS (
  SELECT r.rolname, r.oid, r.rolsuper
  FROM pg_roles r
  WHERE pg_has_role(current_user, r.oid, 'MEMBER')
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
guard (relname, tgname) AS (
  VALUES
    ('flow_definition', 'flow_definition_immutable'),
    ('audit_entry', 'audit_entry_append_only'),
    ('admin_audit', 'admin_audit_append_only'),
    ('reconciliation_resolution', 'reconciliation_resolution_append_only')
)
SELECT 'The role is a superuser.'
FROM me WHERE rolsuper
UNION ALL
SELECT 'The role can become a superuser.'
FROM me WHERE NOT rolsuper AND EXISTS (SELECT FROM held WHERE held.rolsuper)
UNION ALL
SELECT 'The role bypasses row security.'
FROM me WHERE rolbypassrls
UNION ALL
SELECT 'The role can make roles.'
FROM me WHERE rolcreaterole
UNION ALL
SELECT 'The role can make databases.'
FROM me WHERE rolcreatedb
UNION ALL
SELECT 'The role can replicate.'
FROM me WHERE rolreplication
UNION ALL
SELECT 'The role owns the schema.'
FROM home WHERE pg_has_role(current_user, nspowner, 'MEMBER')
UNION ALL
SELECT 'The role can create in the schema.'
FROM home WHERE has_schema_privilege(current_user, home.oid, 'CREATE')
UNION ALL
SELECT 'The role can create schemas in the database.'
WHERE has_database_privilege(current_user, current_database(), 'CREATE')
UNION ALL
SELECT format('The role owns the table %s.', relname)
FROM relation WHERE pg_has_role(current_user, relowner, 'MEMBER')
UNION ALL
SELECT format('The role can delete from the table %s.', relname)
FROM relation WHERE has_table_privilege(current_user, oid, 'DELETE')
UNION ALL
SELECT format('The role can empty the table %s.', relname)
FROM relation WHERE has_table_privilege(current_user, oid, 'TRUNCATE')
UNION ALL
SELECT format('The role can put triggers on the table %s.', relname)
FROM relation WHERE has_table_privilege(current_user, oid, 'TRIGGER')
UNION ALL
SELECT format('The role can rewrite the table %s.', relname)
FROM relation
WHERE relname IN ('audit_entry', 'admin_audit', 'reconciliation_resolution', 'request_creation', 'document_reference')
  AND has_any_column_privilege(current_user, oid, 'UPDATE')
UNION ALL
SELECT 'The role can write the record of the schema''s revision.'
FROM relation
WHERE relname = 'alembic_version' AND has_any_column_privilege(current_user, oid, 'INSERT, UPDATE')
UNION ALL
SELECT format('The guard %s of the table %s is missing or switched off.', guard.tgname, guard.relname)
FROM guard
WHERE NOT EXISTS (
  SELECT FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
  WHERE r.relname = guard.relname AND t.tgname = guard.tgname AND t.tgenabled IN ('O', 'A')
)
UNION ALL
SELECT 'The role can switch triggers off for its session.'
WHERE has_parameter_privilege(current_user, 'session_replication_role', 'SET');
