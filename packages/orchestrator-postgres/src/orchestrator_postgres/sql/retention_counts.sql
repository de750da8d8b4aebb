-- Promises: how many rows of each kind hang on some requests, without reading what is in them.
-- Locks: none. Indexes: those on request_id and execution_id.
SELECT
  (
    SELECT count(*) FROM orchestrator.audit_entry
    WHERE request_id = ANY (%(ids)s) AND kind <> 'PERSONAL_DATA_ERASED'
  ) AS history_entries,
  (SELECT count(*) FROM orchestrator.execution WHERE request_id = ANY (%(ids)s)) AS executions,
  (
    SELECT count(*)
    FROM orchestrator.action_execution AS action
    JOIN orchestrator.execution ON execution.id = action.execution_id
    WHERE execution.request_id = ANY (%(ids)s)
  ) AS results,
  (SELECT count(*) FROM orchestrator.document_reference WHERE request_id = ANY (%(ids)s)) AS documents,
  (
    SELECT count(*)
    FROM orchestrator.reconciliation_resolution AS resolution
    JOIN orchestrator.execution ON execution.id = resolution.execution_id
    WHERE execution.request_id = ANY (%(ids)s)
  ) AS resolutions
