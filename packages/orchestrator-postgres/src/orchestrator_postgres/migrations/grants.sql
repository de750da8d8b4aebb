-- What the group roles may do; applied after every migration, so that roles made later get it too.
-- Columns are named one by one: identity, ACL, the pinned flow and the accepted command never change.

DO $grants$
BEGIN
  REVOKE ALL ON SCHEMA orchestrator FROM PUBLIC;
  REVOKE ALL ON ALL TABLES IN SCHEMA orchestrator FROM PUBLIC;
  REVOKE ALL ON ALL FUNCTIONS IN SCHEMA orchestrator FROM PUBLIC;

  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'orchestrator_runtime') THEN
    GRANT USAGE ON SCHEMA orchestrator TO orchestrator_runtime;
    GRANT SELECT ON ALL TABLES IN SCHEMA orchestrator TO orchestrator_runtime;
    GRANT INSERT ON
      orchestrator.flow_definition, orchestrator.request_type, orchestrator.request_instance,
      orchestrator.execution, orchestrator.action_execution, orchestrator.document_reference,
      orchestrator.audit_entry, orchestrator.admin_audit, orchestrator.request_creation,
      orchestrator.reconciliation_resolution
      TO orchestrator_runtime;
    GRANT UPDATE (definition, status, checksum, contracts, revision, published_at)
      ON orchestrator.flow_definition TO orchestrator_runtime;
    GRANT UPDATE (active_flow_id, enabled, revision) ON orchestrator.request_type TO orchestrator_runtime;
    GRANT UPDATE (current_state, data, revision, audit_sequence, audit_head, updated_at)
      ON orchestrator.request_instance TO orchestrator_runtime;
    GRANT UPDATE (status, attempts, claims_without_progress, next_attempt_at, lease_owner, lease_until,
                  fencing_token, accepted_revision, result, error_code, updated_at)
      ON orchestrator.execution TO orchestrator_runtime;
    GRANT UPDATE (status, attempt_count, external_idempotency_key, input_hash, effect, uncertain, result,
                  provider_reference, error_code, started_at, finished_at)
      ON orchestrator.action_execution TO orchestrator_runtime;
  END IF;

  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'orchestrator_retention') THEN
    GRANT USAGE ON SCHEMA orchestrator TO orchestrator_retention;
    GRANT SELECT ON orchestrator.audit_entry, orchestrator.request_instance, orchestrator.alembic_version
      TO orchestrator_retention;
    GRANT UPDATE (detail, salt) ON orchestrator.audit_entry TO orchestrator_retention;
  END IF;
END $grants$;
