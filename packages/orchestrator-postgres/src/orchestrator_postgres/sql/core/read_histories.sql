-- Made of orchestrator_postgres.core_statements by `make statements`.
SELECT orchestrator.audit_entry.id, orchestrator.audit_entry.request_id, orchestrator.audit_entry.execution_id, orchestrator.audit_entry.sequence, orchestrator.audit_entry.kind, orchestrator.audit_entry.actor_subject, orchestrator.audit_entry.flow_id, orchestrator.audit_entry.from_state, orchestrator.audit_entry.to_state, orchestrator.audit_entry.detail, orchestrator.audit_entry.salt, orchestrator.audit_entry.detail_hash, orchestrator.audit_entry.head, orchestrator.audit_entry.created_at
FROM orchestrator.audit_entry
WHERE orchestrator.audit_entry.request_id = any(%(ids)s) ORDER BY orchestrator.audit_entry.request_id, orchestrator.audit_entry.sequence
