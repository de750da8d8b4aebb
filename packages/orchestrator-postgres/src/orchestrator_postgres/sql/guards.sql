-- Promises: one sentence for each trigger that protects histories, resolutions and published flows and doesn't, and for each
--   foreign key that isn't enforced; none where every one does its work.
-- Locks: none. Index: the catalogues' own.
WITH relation AS (
  SELECT c.oid, c.relname
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'orchestrator'
  WHERE c.relkind IN ('r', 'p')
),
guard (relname, tgname) AS (
  VALUES
    ('flow_definition', 'flow_definition_begins_as_draft'),
    ('flow_definition', 'flow_definition_immutable'),
    ('flow_definition', 'flow_definition_never_emptied'),
    ('audit_entry', 'audit_entry_append_only'),
    ('audit_entry', 'audit_entry_erasure_proven'),
    ('audit_entry', 'audit_entry_never_emptied'),
    ('admin_audit', 'admin_audit_append_only'),
    ('admin_audit', 'admin_audit_never_emptied'),
    ('reconciliation_resolution', 'reconciliation_resolution_append_only'),
    ('reconciliation_resolution', 'reconciliation_resolution_never_emptied')
)
SELECT format('The guard %s of the table %s is missing or switched off.', guard.tgname, guard.relname)
FROM guard
-- A table that isn't there is the schema's fault.
WHERE guard.relname IN (SELECT relation.relname FROM relation)
  AND NOT EXISTS (
    SELECT FROM pg_trigger t JOIN relation r ON r.oid = t.tgrelid
    WHERE r.relname = guard.relname AND t.tgname = guard.tgname AND t.tgenabled IN ('O', 'A')
  )
UNION ALL
SELECT format('The foreign key %s of the table %s is switched off.', k.conname, owner.relname)
FROM pg_constraint k
JOIN relation owner ON owner.oid = k.conrelid
WHERE k.contype = 'f'
  AND EXISTS (SELECT FROM pg_trigger t WHERE t.tgconstraint = k.oid AND t.tgenabled NOT IN ('O', 'A'))
UNION ALL
SELECT 'Sessions of this role begin with session_replication_role = replica, so that no guard and no foreign key does its work.'
WHERE current_setting('session_replication_role') = 'replica';
