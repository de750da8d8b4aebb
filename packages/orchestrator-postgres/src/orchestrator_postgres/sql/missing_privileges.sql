-- Promises: one sentence for each thing that the service does and its role may not; none for a proper role.
-- Locks: none. Index: the catalogues' own.
WITH wanted (relname, changed) AS (
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
relation AS (
  SELECT c.oid, wanted.relname, wanted.changed
  FROM wanted
  JOIN pg_class c ON c.relname = wanted.relname
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'orchestrator'
)
SELECT format('The role can''t %s the table %s.', power.told, relname) AS told
FROM relation
CROSS JOIN (VALUES ('SELECT', 'read'), ('INSERT', 'add rows to')) AS power (privilege, told)
WHERE NOT has_table_privilege(relation.oid, power.privilege)
UNION ALL
SELECT format('The role can''t change %s in the table %s.', string_agg(a.attname, ', ' ORDER BY a.attnum), relname)
FROM relation
JOIN pg_attribute a ON a.attrelid = relation.oid AND a.attname = ANY (relation.changed)
WHERE NOT has_column_privilege(relation.oid, a.attnum, 'UPDATE')
GROUP BY relname
