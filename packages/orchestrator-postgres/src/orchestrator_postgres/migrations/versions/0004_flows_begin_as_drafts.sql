-- A flow version comes into being as a draft, whoever adds it: what is published has been a draft that was checked.

CREATE FUNCTION orchestrator.guard_new_flow_definition() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF NEW.status <> 'DRAFT' THEN
    RAISE EXCEPTION 'A flow version begins as a draft.'
      USING ERRCODE = 'restrict_violation', CONSTRAINT = 'flow_definition_begins_as_draft';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER flow_definition_begins_as_draft
  BEFORE INSERT ON orchestrator.flow_definition
  FOR EACH ROW EXECUTE FUNCTION orchestrator.guard_new_flow_definition();
