-- What no role may do, the owner of the tables included, whatever statement it finds.
-- Documents are compared as text: jsonb takes 1.10 and 1.1 for equal, a checksum's reader may not.

CREATE FUNCTION orchestrator.guard_flow_definition() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF OLD.status = 'DRAFT' THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'A published flow version is never deleted.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'flow_definition_immutable';
  END IF;
  IF OLD.status = 'DRAFT' THEN
    IF NEW.status = 'RETIRED' OR NEW.id <> OLD.id THEN
      RAISE EXCEPTION 'A draft is edited or published, nothing else.'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'flow_definition_lifecycle';
    END IF;
    RETURN NEW;
  END IF;
  IF OLD.status <> 'PUBLISHED' OR NEW.status <> 'RETIRED' THEN
    RAISE EXCEPTION 'A published flow version can only be retired.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'flow_definition_lifecycle';
  END IF;
  IF (NEW.id, NEW.flow_key, NEW.version, NEW.schema_version, NEW.definition::text, NEW.checksum,
      NEW.contracts::text, NEW.created_at, NEW.created_by, NEW.published_at)
     IS DISTINCT FROM
     (OLD.id, OLD.flow_key, OLD.version, OLD.schema_version, OLD.definition::text, OLD.checksum,
      OLD.contracts::text, OLD.created_at, OLD.created_by, OLD.published_at) THEN
    RAISE EXCEPTION 'A published flow version is immutable.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'flow_definition_immutable';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER flow_definition_immutable
  BEFORE UPDATE OR DELETE ON orchestrator.flow_definition
  FOR EACH ROW EXECUTE FUNCTION orchestrator.guard_flow_definition();

CREATE FUNCTION orchestrator.guard_audit_entry() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'UPDATE'
     AND NEW.detail IS NULL AND NEW.salt IS NULL
     AND (NEW.id, NEW.request_id, NEW.execution_id, NEW.sequence, NEW.kind, NEW.actor_subject, NEW.flow_id,
          NEW.from_state, NEW.to_state, NEW.detail_hash, NEW.head, NEW.created_at)
         IS NOT DISTINCT FROM
         (OLD.id, OLD.request_id, OLD.execution_id, OLD.sequence, OLD.kind, OLD.actor_subject, OLD.flow_id,
          OLD.from_state, OLD.to_state, OLD.detail_hash, OLD.head, OLD.created_at)
     AND pg_has_role(current_user, 'orchestrator_retention', 'USAGE') THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'History is only ever appended to.'
    USING ERRCODE = 'restrict_violation', CONSTRAINT = 'audit_entry_append_only';
END $$;

CREATE TRIGGER audit_entry_append_only
  BEFORE UPDATE OR DELETE ON orchestrator.audit_entry
  FOR EACH ROW EXECUTE FUNCTION orchestrator.guard_audit_entry();

CREATE FUNCTION orchestrator.refuse_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  RAISE EXCEPTION 'Rows of this table are only ever added.'
    USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER admin_audit_append_only
  BEFORE UPDATE OR DELETE ON orchestrator.admin_audit
  FOR EACH ROW EXECUTE FUNCTION orchestrator.refuse_change();
CREATE TRIGGER reconciliation_resolution_append_only
  BEFORE UPDATE OR DELETE ON orchestrator.reconciliation_resolution
  FOR EACH ROW EXECUTE FUNCTION orchestrator.refuse_change();

CREATE TRIGGER flow_definition_never_emptied
  BEFORE TRUNCATE ON orchestrator.flow_definition
  FOR EACH STATEMENT EXECUTE FUNCTION orchestrator.refuse_change();
CREATE TRIGGER audit_entry_never_emptied
  BEFORE TRUNCATE ON orchestrator.audit_entry
  FOR EACH STATEMENT EXECUTE FUNCTION orchestrator.refuse_change();
CREATE TRIGGER admin_audit_never_emptied
  BEFORE TRUNCATE ON orchestrator.admin_audit
  FOR EACH STATEMENT EXECUTE FUNCTION orchestrator.refuse_change();
CREATE TRIGGER reconciliation_resolution_never_emptied
  BEFORE TRUNCATE ON orchestrator.reconciliation_resolution
  FOR EACH STATEMENT EXECUTE FUNCTION orchestrator.refuse_change();
