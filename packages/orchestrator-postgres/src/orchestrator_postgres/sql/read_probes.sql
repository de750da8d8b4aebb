-- Promises: what the histories of these requests tell of status queries about these executions, the oldest first; what
--   was erased tells nothing.
-- Locks: none. Index: audit_entry_request_id_sequence_key.
SELECT entry.execution_id, entry.detail, entry.created_at
FROM orchestrator.audit_entry AS entry
WHERE entry.request_id = ANY (%(requests)s)
  AND entry.execution_id = ANY (%(ids)s)
  AND entry.kind IN ('EFFECT_PROBED', 'RECONCILIATION_REQUIRED')
ORDER BY entry.request_id, entry.sequence
