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
    -- Enough to find what is due and to count it, and nothing that a person could be recognised by. What earlier
    -- revisions granted beyond that is taken back.
    REVOKE ALL ON ALL TABLES IN SCHEMA orchestrator FROM orchestrator_retention;
    GRANT SELECT ON orchestrator.flow_definition, orchestrator.request_type, orchestrator.alembic_version
      TO orchestrator_retention;
    GRANT SELECT (id, type_key, flow_id, current_state, business_scope, revision, created_at, updated_at)
      ON orchestrator.request_instance TO orchestrator_retention;
    GRANT SELECT (id, request_id, status) ON orchestrator.execution TO orchestrator_retention;
    GRANT SELECT (id, execution_id) ON orchestrator.action_execution, orchestrator.reconciliation_resolution
      TO orchestrator_retention;
    GRANT SELECT (id, request_id) ON orchestrator.document_reference TO orchestrator_retention;
    GRANT SELECT (id, request_id, sequence, kind, created_at) ON orchestrator.audit_entry TO orchestrator_retention;
  END IF;

  -- Functions that only later revisions have.
  IF to_regproc('orchestrator.erase_personal_data') IS NOT NULL
     AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'orchestrator_retention') THEN
    GRANT EXECUTE ON FUNCTION orchestrator.erase_personal_data, orchestrator.erased_parts TO orchestrator_retention;
  END IF;
  IF to_regproc('orchestrator.serves_code_since') IS NOT NULL
     AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'orchestrator_runtime') THEN
    GRANT EXECUTE ON FUNCTION orchestrator.serves_code_since TO orchestrator_runtime;
  END IF;
END $grants$;
